import { expect, test } from "vitest";
import { StreamInbox } from "../../../src/http/stream/inbox.ts";

interface InboxRecord {
  readonly taken: (string | Uint8Array)[];
  readonly skipped: (string | Uint8Array)[];
  readonly reported: string[];
  /** Completes the pending message. */
  release(): Promise<void>;
}

/** An inbox whose binary messages are pending until they are released. */
function startInbox(): { box: StreamInbox; seen: InboxRecord } {
  const taken: (string | Uint8Array)[] = [];
  const skipped: (string | Uint8Array)[] = [];
  const reported: string[] = [];
  let finishMessage = (): void => {};
  const box = new StreamInbox({
    take(message) {
      if (message === "throw") throw new Error("a mistake");
      taken.push(message);
      if (typeof message === "string") return;
      return new Promise((resolve) => {
        finishMessage = resolve;
      });
    },
    dropsAudio: (message) => message === "clear",
    skip: (message) => void skipped.push(message),
    onLong: (isLong) => reported.push(isLong ? "long" : "short"),
    onFull: () => reported.push("full"),
    onBroken: (cause) => reported.push(String(cause)),
  });
  const release = async (): Promise<void> => {
    finishMessage();
    await new Promise((resolve) => setTimeout(resolve));
  };
  return { box, seen: { taken, skipped, reported, release } };
}

test("a message is handled immediately, or after the pending one", async () => {
  const { box, seen } = startInbox();
  box.push("a");
  expect(seen.taken).toEqual(["a"]);
  expect(box.idle).toBeUndefined();
  box.push(new Uint8Array(1));
  box.push("b");
  box.push("c");
  expect(seen.taken).toHaveLength(2);
  expect(box.idle).toBeDefined();
  await seen.release();
  expect(seen.taken.slice(2)).toEqual(["b", "c"]);
  expect(box.idle).toBeUndefined();
});

test("the inbox reports that it is long, and then short again", async () => {
  const { box, seen } = startInbox();
  for (let i = 0; i < 8; i++) box.push(new Uint8Array(2 ** 20 - 1024));
  expect(seen.reported).toEqual(["long"]);
  for (let i = 0; i < 8; i++) await seen.release();
  expect(seen.reported).toEqual(["long", "short"]);
  expect(seen.taken).toHaveLength(8);
});

test.each([
  [1_048_576, 10],
  [0, 20_000],
])("the number of waiting messages of %i bytes is bounded", async (size, count) => {
  const { box, seen } = startInbox();
  for (let i = 0; i < count; i++) box.push(new Uint8Array(size));
  expect(seen.reported).toEqual(["long", "full"]);
  await seen.release();
  expect(seen.taken).toHaveLength(1);
});

test("a message that drops the audio before it is handled immediately", async () => {
  const { box, seen } = startInbox();
  const [first, second, third] = [1, 2, 3].map((size) => new Uint8Array(size));
  box.push(first!);
  box.push(second!);
  box.push("mark");
  expect(box.some((message) => message === "mark")).toBe(true);
  box.push("clear");
  expect(seen.taken).toEqual([first, "clear"]);
  expect(seen.skipped).toEqual([second, "mark"]);
  box.push(third!);
  box.push("clear");
  expect(seen.skipped).toEqual([second, "mark", third]);
  await seen.release();
  expect(seen.taken).toEqual([first, "clear", "clear"]);
  expect(box.idle).toBeUndefined();
});

test("an inbox that was long is short after its audio was dropped", () => {
  const { box, seen } = startInbox();
  for (let i = 0; i < 8; i++) box.push(new Uint8Array(2 ** 20 - 1024));
  box.push("clear");
  expect(seen.reported).toEqual(["long", "short"]);
  for (let i = 0; i < 7; i++) box.push(new Uint8Array(2 ** 20 - 1024));
  expect(seen.reported).toEqual(["long", "short", "long"]);
});

test("an error is reported once, and no more messages are handled", async () => {
  const { box, seen } = startInbox();
  box.push(new Uint8Array(1));
  box.push("throw");
  box.push("never");
  await seen.release();
  box.push("never");
  expect(seen.reported).toEqual(["Error: a mistake"]);
  expect(seen.taken).toHaveLength(1);
  const otherInbox = startInbox();
  otherInbox.box.push("throw");
  expect(otherInbox.seen.reported).toEqual(["Error: a mistake"]);
});
