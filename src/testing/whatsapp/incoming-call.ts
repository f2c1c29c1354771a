/** A call from outside to the number of a fake client. */
export class FakeIncomingCall {
  readonly callId: string;
  /** JID of the caller. */
  readonly from: string;
  /** True if the client has confirmed that it rings, as the plugin does automatically. */
  preaccepted = false;
  #isEndedByClient = false;
  readonly #terminate: () => void;

  constructor(callId: string, from: string, terminate: () => void) {
    this.callId = callId;
    this.from = from;
    this.#terminate = terminate;
  }

  /** True if the client has ended the call, which ends it on the owner's phone too. */
  get touched(): boolean {
    return this.#isEndedByClient;
  }

  /** Lets the caller give up. */
  cancel(): void {
    this.#terminate();
  }

  /** Records that the client rings. For the client. */
  preaccept(): void {
    this.preaccepted = true;
  }

  /** Records that the client ended the call. For the client. */
  stop(by: "caller" | "callee"): void {
    if (by === "caller") this.#isEndedByClient = true;
  }
}
