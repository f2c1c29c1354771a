import { nextTurn } from "../base/turn-budget.ts";

/** Number of bytes copied per turn of the event loop; fresh memory costs more than the copy. */
const PIECE_BYTES = 512 << 10;

/** Copies bytes to a new buffer in pieces, and yields to the event loop between them. */
export async function copyInTurns(bytes: Uint8Array): Promise<ArrayBuffer> {
  const copy = new Uint8Array(bytes.length);
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    if (at > 0) await nextTurn();
    copy.set(bytes.subarray(at, at + PIECE_BYTES), at);
  }
  return copy.buffer;
}
