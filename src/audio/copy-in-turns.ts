import { nextTurn } from "./next-turn.ts";

/** Copied without a break, bytes; fresh memory costs more than the copy. */
const PIECE_BYTES = 512 << 10;

/** A copy in a buffer of its own, made in pieces between which the event loop turns. */
export async function copyInTurns(bytes: Uint8Array): Promise<ArrayBuffer> {
  const copy = new Uint8Array(bytes.length);
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    if (at > 0) await nextTurn();
    copy.set(bytes.subarray(at, at + PIECE_BYTES), at);
  }
  return copy.buffer;
}
