import type { CSeq } from "./cseq.ts";
import { parseSeconds } from "./seconds.ts";

/** Reads RSeq, the number of a reliable provisional response: 1 to 2^32 - 1 (RFC 3262 section 7.1). */
export function parseRSeq(text: string | undefined): number | undefined {
  return parseSeconds(text) || undefined;
}

/** The value of RAck: which reliable provisional response a PRACK acknowledges (RFC 3262 section 7.2). */
export function writeRAck(rseq: number, { number, method }: CSeq): string {
  return `${rseq} ${number} ${method}`;
}
