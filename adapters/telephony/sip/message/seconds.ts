/** Reads delta-seconds, or another number of at most 32 bits (RFC 3261 section 25.1): digits and nothing else. */
export function parseSeconds(text: string | undefined): number | undefined {
  const match = /^\s*(\d+)\s*$/.exec(text ?? "");
  const seconds = Number(match?.[1]);
  return seconds <= 0xffff_ffff ? seconds : undefined;
}
