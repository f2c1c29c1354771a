import { parseCSeq, parseRSeq, writeRAck } from "../message/header-values.ts";
import { optionTags } from "../message/headers.ts";
import type { SipResponse } from "../message/sip-message.ts";
import type { InviteRequest } from "./invite.ts";
import { sdpOf } from "./session-description.ts";

/** Progress of an INVITE before its final response (RFC 3261 section 13.2.2.1); reports each step once. */
export class Alerting {
  readonly #call: InviteRequest;
  #furthestStatus: number | undefined;
  #hasProgressed = false;
  #hasRung = false;
  #sdp: string | undefined;
  #earlyMedia = false;

  constructor(call: InviteRequest) {
    this.#call = call;
  }

  /** The most advanced provisional response: any 18x, otherwise 100; undefined if none has arrived. */
  get furthestStatus(): number | undefined {
    return this.#furthestStatus;
  }

  /** True if a provisional response other than 100 has arrived: a phone may have rung, even if only a 199 has arrived. */
  get hasProgressed(): boolean {
    return this.#hasProgressed;
  }

  /** True if the callee has been alerted. */
  get hasRung(): boolean {
    return this.#hasRung;
  }

  /** Handles a provisional response of any fork. */
  progress({ status }: SipResponse): void {
    if (isReached(status)) this.#furthestStatus = status;
    else this.#furthestStatus ??= status === 100 ? status : undefined;
    if (status === 100) return;
    if (this.#hasProgressed) return;
    this.#hasProgressed = true;
    this.#call.listener.progressed();
  }

  /**
   * Handles a response in an early dialog, which may report ringing and early media. The audio of the latest fork is
   * played.
   */
  takeEarly(response: SipResponse): void {
    if (!this.#hasRung && isAlerting(response)) {
      this.#hasRung = true;
      this.#call.listener.ringing();
    }
    const sdp = sdpOf(response);
    if (sdp === undefined || sdp === this.#sdp) return;
    this.#sdp = sdp;
    if (this.#call.negotiator.takeAnswer(sdp, true) !== undefined || this.#earlyMedia) return;
    this.#earlyMedia = true;
    this.#call.listener.earlyMedia();
  }
}

/** True for any 18x: the call has reached the callee's side, so it could have been answered. */
export function isReached(status: number | undefined): boolean {
  return status !== undefined && status >= 180 && status < 190;
}

/**
 * True if the callee's phone rings: 180, or a 183 with an Alert-Info field (RFC 3261 sections 20.4 and 21.1). Any other
 * response is progress only: an announcement, a queue, call forwarding.
 */
function isAlerting({ status, headers }: SipResponse): boolean {
  return status === 180 || (status === 183 && headers.has("Alert-Info"));
}

/** Tracks the order of one early dialog's reliable provisional responses (RFC 3262 section 4). */
export class ReliableProvisionals {
  #lastRSeq: number | undefined;

  /**
   * Classifies a provisional response. `unreliable`: it needs no PRACK; `next`: it needs a PRACK with this RAck;
   * `ignored`: a retransmission, or a response out of order, which the peer sends again.
   */
  receive(response: SipResponse): { type: "unreliable" } | { type: "ignored" } | { type: "next"; rack: string } {
    const isReliable = optionTags(response.headers, "Require").includes("100rel");
    const rseq = parseRSeq(response.headers.get("RSeq"));
    const cseq = parseCSeq(response.headers.get("CSeq"));
    if (!isReliable || rseq === undefined || cseq === undefined) return { type: "unreliable" };
    if (this.#lastRSeq !== undefined && rseq !== this.#lastRSeq + 1) return { type: "ignored" };
    this.#lastRSeq = rseq;
    return { type: "next", rack: writeRAck(rseq, cseq) };
  }
}
