import fc from "fast-check";
import { expect, test } from "vitest";
import type { CallListening, ListenItem } from "../../../src/application/call-audio/listeners/listen-items.ts";
import { Queue } from "../../../src/base/queue.ts";
import { Refusal } from "../../../src/domain/refusal.ts";
import { LISTENER_STALL_MS, listenSocket } from "../../../src/http/sockets/listen-socket.ts";
import { silentLogger } from "../../../src/ports/logger.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";
import { CODE_POINT } from "../../support/fuzz.ts";
import { FakeSocket } from "../stream/fake-socket.ts";

const STARTED_ITEM: ListenItem = { type: "started", sampleRate: 8_000 };
const ENDED_ITEM: ListenItem = { type: "call_ended", status: "COMPLETED", reason: "message_played" };
const audio = (samples: number[]): ListenItem => ({ type: "audio", samples: Int16Array.from(samples) });

/** A listener's connection, which a test feeds. */
function connect({ fault }: { fault?: Error } = {}) {
  const system = new ManualSystem();
  const items = new Queue<ListenItem>();
  const socket = new FakeSocket();
  let revoke = () => {};
  let isWatched = true;
  let closeCount = 0;
  const listening: CallListening = {
    callId: "call_1",
    close() {
      closeCount++;
      items.close();
    },
    async *[Symbol.asyncIterator]() {
      yield* items;
      if (fault) throw fault;
    },
  };
  const handlers = listenSocket({
    listening,
    watchToken: (revoked) => {
      revoke = revoked;
      return () => {
        isWatched = false;
      };
    },
    system,
    log: silentLogger,
    fields: { request_id: "r", call_id: "call_1" },
  });
  return {
    ...{ system, items, socket, handlers },
    revoke: () => revoke(),
    get isWatched() {
      return isWatched;
    },
    get closeCount() {
      return closeCount;
    },
  };
}

test("a client gets the messages as JSON, the audio as little-endian bytes, and 1000 at the end", async () => {
  const { handlers, items, socket, system } = connect();
  handlers.open?.(socket);
  for (const item of [{ type: "waiting", status: "RINGING" } as const, STARTED_ITEM, audio([1, -2, 256, 0])])
    items.push(item);
  items.push({ type: "gap", lostMs: 40 });
  items.push(ENDED_ITEM);
  items.close();
  await system.settle();
  expect(socket.messages).toEqual([
    { type: "waiting", status: "RINGING" },
    { type: "started", sample_rate: 8_000, encoding: "pcm_s16le", channels: ["callee", "played"] },
    { type: "gap", lost_ms: 40 },
    { type: "call_ended", status: "COMPLETED", reason: "message_played" },
  ]);
  expect(socket.sent[2]).toEqual(Uint8Array.of(1, 0, 254, 255, 0, 1, 0, 0));
  expect(socket.closed?.code).toBe(1000);
});

test("a revoked token closes the connection with 4001", async () => {
  const scene = connect();
  scene.handlers.open?.(scene.socket);
  scene.items.push(STARTED_ITEM);
  await scene.system.settle();
  scene.revoke();
  await scene.system.settle();
  expect([scene.socket.closed?.code, scene.closeCount, scene.isWatched]).toEqual([4001, 1, false]);
});

test("a server that stops closes the connection with 1001, a bug with 1011", async () => {
  for (const [fault, code] of [
    [new Refusal("stopping", "the server is stopping"), 1001],
    [new TypeError("a bug"), 1011],
  ] as const) {
    const { handlers, items, socket, system } = connect({ fault });
    handlers.open?.(socket);
    items.close();
    await system.settle();
    expect(socket.closed?.code).toBe(code);
  }
});

test("a client that does not read is sent no more, and is disconnected", async () => {
  const { handlers, items, socket, system } = connect();
  socket.isStuck = true;
  handlers.open?.(socket);
  for (let i = 0; i < 100; i++) items.push(audio(new Array(2_000).fill(i)));
  await system.settle();
  expect(socket.bufferedAmount).toBeLessThan(72 << 10);
  await system.advance(LISTENER_STALL_MS - 1);
  expect(socket.closed).toBeUndefined();
  await system.advance(1);
  expect(socket.closed?.code).toBe(4009);
});

test("a client that reads again gets the rest", async () => {
  const { handlers, items, socket, system } = connect();
  socket.isStuck = true;
  handlers.open?.(socket);
  for (let i = 0; i < 100; i++) items.push(audio(new Array(2_000).fill(i)));
  await system.settle();
  await socket.read();
  await system.settle();
  await system.advance(LISTENER_STALL_MS);
  expect(socket.sent.length).toBe(100);
  expect(socket.closed).toBeUndefined();
});

test("a client that leaves during the handshake stops listening", () => {
  const scene = connect();
  scene.handlers.close?.(scene.socket, 1006, "");
  expect(scene.closeCount).toBe(1);
});

test("any client message gets one reply, and the audio continues", async () => {
  const message = fc.oneof(
    fc.string({ unit: CODE_POINT }),
    fc.uint8Array({ maxLength: 100 }),
    fc.json(),
    fc.constant("x".repeat(70_000)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 20 }), async (messages) => {
      const { handlers, items, socket, system } = connect();
      handlers.open?.(socket);
      items.push(STARTED_ITEM);
      for (const data of messages) handlers.message(socket, data);
      items.push(audio([5, 6]));
      await system.settle();
      expect(socket.messages.filter(({ type }) => type === "error")).toEqual([
        { type: "error", code: "unknown_message", detail: expect.stringMatching(/a listener cannot send messages/) },
      ]);
      expect(socket.sent.at(-1)).toEqual(Uint8Array.of(5, 0, 6, 0));
      expect(socket.closed).toBeUndefined();
      handlers.close?.(socket, 1000, "");
      for (const data of messages) handlers.message(socket, data);
    }),
    { numRuns: 30 },
  );
});
