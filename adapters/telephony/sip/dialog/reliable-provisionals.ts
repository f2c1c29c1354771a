import { parseCSeq, parseRSeq, writeRAck } from "../message/cseq.ts";
import { optionTags } from "../message/headers.ts";
import type { SipResponse } from "../message/message.ts";

/** The reliable provisional responses of one early dialog, in their order (RFC 3262 section 4). */
export class ReliableProvisionals {
  #last: number | undefined;

  /**
   * What to do with a provisional response: `unreliable`, it wants no PRACK; `next`, it is to be acknowledged with a
   * PRACK that has this RAck; `ignored`, a copy, or one that has overtaken another: the far side sends it again.
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
