/**
 * How often a stream's sequence number (16 bits) has wrapped around, when this packet was sent; -1 when before its first
 * packet. The guess that puts the packet closest to the newest one (RFC 3711 section 3.3.1, appendix A).
 * @param roc how often it has when the newest packet was sent
 * @param newest the sequence number of that one
 */
export function guessRollover(roc: number, newest: number, sequence: number): number {
  if (newest < 0x8000) return sequence - newest > 0x8000 ? roc - 1 : roc;
  return newest - 0x8000 > sequence ? roc + 1 : roc;
}
