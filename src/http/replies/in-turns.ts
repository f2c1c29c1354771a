import { nextTurn, TurnBudget } from "../../base/turn-budget.ts";

/** Bytes of all replies in pieces that are made in one turn of the event loop; a single piece may be larger. */
const MAX_TURN_BYTES: number = 64 << 10;

const turns = new TurnBudget(MAX_TURN_BYTES);

/**
 * The pieces of a body. Each is created in a later turn of the event loop than the previous one, and all responses of the process
 * share the bytes of a turn, so that audio and other requests are served in between. Every server adapter reads bodies this way.
 */
export async function* inTurns(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    yield piece;
    await nextTurn();
    await turns.take(piece.byteLength);
  }
}
