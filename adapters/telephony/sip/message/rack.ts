import { type CSeq, parseCSeq } from "./cseq.ts";
import { parseSeconds } from "./seconds.ts";

/** The value of RAck: which reliable provisional response a PRACK acknowledges (RFC 3262 section 7.2). */
export interface RAck {
  /** The RSeq of the response. */
  readonly rseq: number;
  /** The CSeq of the response. */
  readonly cseq: CSeq;
}

/** Reads RAck: `776656 1 INVITE`. */
export function parseRAck(text: string | undefined): RAck | undefined {
  const [, number, rest] = /^\s*(\d+)\s+(\S.*)$/s.exec(text ?? "") ?? [];
  const rseq = parseSeconds(number);
  const cseq = parseCSeq(rest);
  return rseq === undefined || cseq === undefined ? undefined : { rseq, cseq };
}

/** Reads RSeq: 1 to 2^32 - 1 (RFC 3262 section 7.1). */
export function parseRSeq(text: string | undefined): number | undefined {
  return parseSeconds(text) || undefined;
}
