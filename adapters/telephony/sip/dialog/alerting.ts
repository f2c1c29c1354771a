import type { SipResponse } from "../message/message.ts";
import type { InviteRequest } from "./invite.ts";
import { sdpOf } from "./session-description.ts";

/** Reports each once before the answer: that the network works on the call, that it rings, that there is audio. */
export class Alerting {
  readonly #call: InviteRequest;
  #progressed = false;
  #rang = false;
  #sdp: string | undefined;
  #early = false;

  constructor(call: InviteRequest) {
    this.#call = call;
  }

  /** Whether anything but 100 and 199 has come before the final response. */
  get progressed(): boolean {
    return this.#progressed;
  }

  /** Whether the callee has been alerted. */
  get rang(): boolean {
    return this.#rang;
  }

  /** A provisional response of any fork has come; the audio of the latest one is heard. */
  heard(response: SipResponse): void {
    if (!this.#progressed) {
      this.#progressed = true;
      this.#call.listener.progressed();
    }
    if (!this.#rang && alerts(response)) {
      this.#rang = true;
      this.#call.listener.ringing();
    }
    const sdp = sdpOf(response);
    if (sdp === undefined || sdp === this.#sdp) return;
    this.#sdp = sdp;
    if (this.#call.negotiator.answered(sdp, true) !== undefined || this.#early) return;
    this.#early = true;
    this.#call.listener.earlyMedia();
  }
}

/**
 * Whether the callee's phone rings: 180, or a 183 that names what it rings with (RFC 3261 sections 20.4 and 21.1). Any
 * other response is progress only: an announcement, a queue, a call that is forwarded.
 */
function alerts({ status, headers }: SipResponse): boolean {
  return status === 180 || (status === 183 && headers.has("Alert-Info"));
}
