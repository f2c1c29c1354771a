/**
 * Time for which a socket must stay open to be considered logged in, for clients that do not report accepted logins,
 * ms.
 */
export const ACCEPTANCE_MS = 3_000;

/**
 * Distinguishes an accepted login from an open socket: a client reports its connection as open before WhatsApp has
 * accepted the login. Until then, no call is dialled and no restriction is cleared.
 */
export class AcceptedLogin {
  readonly #monotonic: () => number;
  #isReported = false;
  #openSince: number | undefined;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Records the client's report that WhatsApp has accepted the login. */
  report(): void {
    this.#isReported = true;
  }

  /** Resets the state, because another login is necessary. */
  reset(): void {
    this.#isReported = false;
    this.#openSince = undefined;
  }

  /** True if the login over the client's socket has been accepted. @param isOpen the current state of the socket */
  isAccepted(isOpen: boolean): boolean {
    if (!isOpen) this.reset();
    else this.#openSince ??= this.#monotonic();
    return isOpen && (this.#isReported || this.#monotonic() - (this.#openSince ?? Infinity) >= ACCEPTANCE_MS);
  }
}
