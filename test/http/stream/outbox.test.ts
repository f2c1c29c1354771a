import * as fc from "fast-check";
import { expect, test } from "vitest";
import { StreamOutbox } from "../../../src/http/stream/outbox.ts";
import { fuzz } from "../../support/fuzz.ts";
import { FakeSocket } from "./fake-socket.ts";

function startOutbox(socket: FakeSocket): { outbox: StreamOutbox; fullReports: () => number } {
  let fullCount = 0;
  const outbox = new StreamOutbox(socket, { droppedMessage: (ms) => ({ dropped_ms: ms }), onFull: () => fullCount++ });
  return { outbox, fullReports: () => fullCount };
}

const frame = (number: number): Uint8Array => Uint8Array.of(number & 255, number >> 8, ...new Uint8Array(638));
const receivedItems = (socket: FakeSocket): unknown[] =>
  socket.sent.map((message) => (typeof message === "string" ? JSON.parse(message) : message[0]! + 256 * message[1]!));

test("a reading client receives messages at once", () => {
  const socket = new FakeSocket();
  const { outbox } = startOutbox(socket);
  outbox.text({ a: 1 });
  outbox.audio(frame(2));
  expect(receivedItems(socket)).toEqual([{ a: 1 }, 2]);
});

test("a slow client loses the oldest audio, and a message reports it", async () => {
  const socket = new FakeSocket();
  const { outbox, fullReports } = startOutbox(socket);
  socket.isStuck = true;
  for (let i = 0; i < 1000; i++) {
    outbox.audio(frame(i));
    if (i % 100 === 0) outbox.text({ at: i });
  }
  expect(socket.bufferedAmount).toBeLessThan(70_000);
  await socket.read();
  await socket.read();
  const received = receivedItems(socket);
  const frames = received.filter((item) => typeof item === "number");
  const firstGap = frames.findIndex((number, i) => i > 0 && number !== (frames[i - 1] as number) + 1);
  // The socket's own buffer and the last 5 s have not been dropped.
  expect(frames.slice(firstGap)).toEqual(Array.from({ length: 250 }, (_, i) => 750 + i));
  const droppedCount = 750 - firstGap;
  expect(received[received.indexOf(750) - 1]).toEqual({ dropped_ms: 20 * droppedCount });
  expect(received.filter((item) => typeof item === "object" && "at" in item!)).toHaveLength(10);
  expect(fullReports()).toBe(0);
});

test("more than 1 MiB of text is refused", () => {
  const socket = new FakeSocket();
  const { outbox, fullReports } = startOutbox(socket);
  socket.isStuck = true;
  for (let i = 0; fullReports() === 0 && i < 10_000; i++) outbox.text({ text: "x".repeat(1_000) });
  expect(fullReports()).toBe(1);
  outbox.close();
  outbox.text({ more: 1 });
  expect(socket.bufferedAmount).toBeLessThan(70_000);
});

test("finish sends the queue in order", () => {
  const socket = new FakeSocket();
  const { outbox } = startOutbox(socket);
  socket.isStuck = true;
  for (let i = 0; i < 300; i++) outbox.audio(frame(i));
  outbox.text({ last: true });
  outbox.finish();
  socket.isStuck = false;
  return socket.read().then(() => expect(receivedItems(socket)).toEqual([...Array(300).keys(), { last: true }]));
});

fuzz(
  "text is never lost and the order never changes, however the client reads",
  fc.asyncProperty(fc.array(fc.constantFrom("text", "audio", "stick", "read"), { maxLength: 400 }), async (steps) => {
    const socket = new FakeSocket();
    const { outbox } = startOutbox(socket);
    let nextNumber = 0;
    for (const step of steps) {
      if (step === "text") outbox.text({ n: nextNumber++ });
      else if (step === "audio") for (let i = 0; i < 40; i++) outbox.audio(frame(nextNumber++));
      else if (step === "stick") socket.isStuck = true;
      else await socket.read();
    }
    await socket.read();
    await socket.read();
    const received = receivedItems(socket);
    const order = received.flatMap((item) =>
      typeof item === "number" ? [item] : "n" in (item as object) ? [(item as { n: number }).n] : [],
    );
    expect(order).toEqual([...order].sort((a, b) => a - b));
    const lostCount = received.reduce<number>(
      (sum, item) => sum + ((item as { dropped_ms?: number }).dropped_ms ?? 0) / 20,
      0,
    );
    expect(order.length + lostCount).toBe(nextNumber);
  }),
);
