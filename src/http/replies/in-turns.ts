import { nextTurn, TurnBudget } from "../../base/turn-budget.ts";

/** Maximum number of bytes of all chunked bodies together per turn of the event loop; a single piece may be larger. */
const MAX_TURN_BYTES: number = 64 << 10;

const turns = new TurnBudget(MAX_TURN_BYTES);

/**
 * Yields the pieces of a body, at most one per turn of the event loop. All responses of the process share the limit on
 * bytes per turn, so that audio and other requests are served in between. Every server adapter reads bodies this way.
 */
export async function* inTurns(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    yield piece;
    await nextTurn();
    await turns.take(piece.byteLength);
  }
}
