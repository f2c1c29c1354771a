import { parseUint32 } from "./grammar.ts";

/** The value of CSeq (RFC 3261 section 20.16). */
export interface CSeq {
  /** 0 to 2^32 - 1. */
  readonly number: number;
  readonly method: string;
}

/** Reads the value of CSeq. */
export function parseCSeq(text: string | undefined): CSeq | undefined {
  const match = /^\s*(\d+)\s+([-A-Za-z0-9.!%*_+`'~]+)\s*$/.exec(text ?? "");
  const number = Number(match?.[1]);
  return match !== null && number <= 0xffff_ffff ? { number, method: match[2] as string } : undefined;
}

/** Reads RSeq, the number of a reliable provisional response: 1 to 2^32 - 1 (RFC 3262 section 7.1). */
export function parseRSeq(text: string | undefined): number | undefined {
  return parseUint32(text) || undefined;
}

/** The value of RAck, which identifies the provisional response that a PRACK acknowledges (RFC 3262 section 7.2). */
export function writeRAck(rseq: number, { number, method }: CSeq): string {
  return `${rseq} ${number} ${method}`;
}
