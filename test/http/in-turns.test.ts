import { expect, onTestFinished, test } from "vitest";
import { inTurns } from "../../src/http/replies/in-turns.ts";
import { toResponse } from "../../src/http/replies/reply.ts";

const PIECE_BYTES = 256 << 10;

/** A clock that counts the event loop's turns. */
function turnClock(): () => number {
  let turn = 0;
  const tick = (): void => {
    turn++;
    immediate = setImmediate(tick);
  };
  let immediate = setImmediate(tick);
  onTestFinished(() => clearImmediate(immediate));
  return () => turn;
}

async function* pieces(count: number, onPiece: () => void): AsyncGenerator<Uint8Array> {
  for (let n = 0; n < count; n++) {
    onPiece();
    yield new Uint8Array(PIECE_BYTES);
  }
}

test("each piece of a reply is made in its own turn", async () => {
  const turn = turnClock();
  const turns: number[] = [];
  for await (const _ of inTurns(pieces(10, () => turns.push(turn())))) void _;
  expect(new Set(turns).size).toBe(10);
});

test("many replies together make one large piece per turn", async () => {
  const turn = turnClock();
  const piecesPerTurn = new Map<number, number>();
  const recordPiece = (): void => void piecesPerTurn.set(turn(), (piecesPerTurn.get(turn()) ?? 0) + 1);
  const replies = Array.from({ length: 20 }, () =>
    toResponse({ status: 200, headers: {}, body: pieces(5, recordPiece) }),
  );
  const bodies = await Promise.all(replies.map((reply) => reply.arrayBuffer()));
  expect(bodies.every(({ byteLength }) => byteLength === 5 * PIECE_BYTES)).toBe(true);
  // The first piece of each reply is made immediately; after that, one piece per turn.
  expect([...piecesPerTurn.values()].filter((count) => count > 1).length).toBeLessThanOrEqual(1);
});

test("a reply whose reader leaves ends its body", async () => {
  let isEnded = false;
  async function* body(): AsyncGenerator<Uint8Array> {
    try {
      yield* pieces(10, () => {});
    } finally {
      isEnded = true;
    }
  }
  const reader = toResponse({ status: 200, headers: {}, body: body() }).body!.getReader();
  await reader.read();
  await reader.cancel();
  expect(isEnded).toBe(true);
});
