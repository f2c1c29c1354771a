/** A call from outside to the number of a fake client. */
export class FakeIncomingCall {
  readonly callId: string;
  /** JID of the caller. */
  readonly from: string;
  /** True if the client has confirmed that the call is ringing, as the plugin does automatically. */
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

  /** Makes the caller hang up. */
  cancel(): void {
    this.#terminate();
  }

  /** Records that the call is ringing. Called by the client. */
  preaccept(): void {
    this.preaccepted = true;
  }

  /** Records that the client ended the call. Called by the client. */
  stop(by: "caller" | "callee"): void {
    if (by === "caller") this.#isEndedByClient = true;
  }
}
