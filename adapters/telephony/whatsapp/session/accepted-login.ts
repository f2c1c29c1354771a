/** A client that does not report accepted logins has logged in if its socket stays open this long, ms. */
export const ACCEPTANCE_MS = 3_000;

/**
 * Tells an open socket from an accepted login: a client reports its connection as open before WhatsApp has answered the
 * login, and nothing may be dialled, and no restriction forgotten, until then.
 */
export class AcceptedLogin {
  readonly #monotonic: () => number;
  #reported = false;
  #openSince: number | undefined;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** The client reports that WhatsApp has accepted the login. */
  report(): void {
    this.#reported = true;
  }

  /** Another login is necessary. */
  reset(): void {
    this.#reported = false;
    this.#openSince = undefined;
  }

  /** True if the login over the socket of the client is accepted. @param isOpen the state of the socket now */
  holds(isOpen: boolean): boolean {
    if (!isOpen) this.reset();
    else this.#openSince ??= this.#monotonic();
    return isOpen && (this.#reported || this.#monotonic() - (this.#openSince ?? Infinity) >= ACCEPTANCE_MS);
  }
}
