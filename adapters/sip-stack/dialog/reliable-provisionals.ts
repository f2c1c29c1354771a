import { parseCSeq, parseRSeq, writeRAck } from "../message/cseq.ts";
import { optionTags } from "../message/headers.ts";
import type { SipResponse } from "../message/message.ts";

/** The order of the reliable provisional responses of one early dialog (RFC 3262 section 4). */
export class ReliableProvisionals {
  #last: number | undefined;

  /**
   * Classifies a provisional response. `unreliable`: it needs no PRACK; `next`: it needs a PRACK with this RAck;
   * `ignored`: a retransmission, or a response out of order, which the peer sends again.
   */
  receive(response: SipResponse): { type: "unreliable" } | { type: "ignored" } | { type: "next"; rack: string } {
    const required = optionTags(response.headers, "Require").includes("100rel");
    const rseq = parseRSeq(response.headers.get("RSeq"));
    const cseq = parseCSeq(response.headers.get("CSeq"));
    if (!required || rseq === undefined || cseq === undefined) return { type: "unreliable" };
    if (this.#last !== undefined && rseq !== this.#last + 1) return { type: "ignored" };
    this.#last = rseq;
    return { type: "next", rack: writeRAck(rseq, cseq) };
  }
}
