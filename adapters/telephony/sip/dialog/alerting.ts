import type { SipResponse } from "../message/message.ts";
import type { InviteRequest } from "./invite.ts";
import { sdpOf } from "./session-description.ts";

/** What is told of a call before its answer: each kind of ringing once, and that there is audio. */
export class Alerting {
  readonly #call: InviteRequest;
  readonly #told = new Set<number>();
  #sdp: string | undefined;
  #early = false;

  constructor(call: InviteRequest) {
    this.#call = call;
  }

  /** Whether an 18x has come. */
  get rang(): boolean {
    return this.#told.size > 0;
  }

  /** A provisional response of any fork has come; the audio of the latest one is heard. */
  heard(response: SipResponse): void {
    const { status } = response;
    if (status >= 180 && status <= 189 && !this.#told.has(status)) {
      this.#told.add(status);
      this.#call.listener.ringing(status);
    }
    const sdp = sdpOf(response);
    if (sdp === undefined || sdp === this.#sdp) return;
    this.#sdp = sdp;
    if (this.#call.negotiator.answered(sdp, true) !== undefined || this.#early) return;
    this.#early = true;
    this.#call.listener.earlyMedia();
  }
}
