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
function startInbox(): { inbox: StreamInbox; record: InboxRecord } {
  const taken: (string | Uint8Array)[] = [];
  const skipped: (string | Uint8Array)[] = [];
  const reported: string[] = [];
  let finishMessage = (): void => {};
  const inbox = new StreamInbox({
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
  return { inbox, record: { taken, skipped, reported, release } };
}

test("a message is handled immediately, or after the pending one", async () => {
  const { inbox, record } = startInbox();
  inbox.push("a");
  expect(record.taken).toEqual(["a"]);
  expect(inbox.idle).toBeUndefined();
  inbox.push(new Uint8Array(1));
  inbox.push("b");
  inbox.push("c");
  expect(record.taken).toHaveLength(2);
  expect(inbox.idle).toBeDefined();
  await record.release();
  expect(record.taken.slice(2)).toEqual(["b", "c"]);
  expect(inbox.idle).toBeUndefined();
});

test("the inbox reports that it is long, and then short again", async () => {
  const { inbox, record } = startInbox();
  for (let i = 0; i < 8; i++) inbox.push(new Uint8Array(2 ** 20 - 1024));
  expect(record.reported).toEqual(["long"]);
  for (let i = 0; i < 8; i++) await record.release();
  expect(record.reported).toEqual(["long", "short"]);
  expect(record.taken).toHaveLength(8);
});

test.each([
  [1_048_576, 10],
  [0, 20_000],
])("the number of waiting messages of %i bytes is bounded", async (size, count) => {
  const { inbox, record } = startInbox();
  for (let i = 0; i < count; i++) inbox.push(new Uint8Array(size));
  expect(record.reported).toEqual(["long", "full"]);
  await record.release();
  expect(record.taken).toHaveLength(1);
});

test("a message that drops the audio before it is handled immediately", async () => {
  const { inbox, record } = startInbox();
  const [first, second, third] = [1, 2, 3].map((size) => new Uint8Array(size));
  inbox.push(first!);
  inbox.push(second!);
  inbox.push("mark");
  expect(inbox.some((message) => message === "mark")).toBe(true);
  inbox.push("clear");
  expect(record.taken).toEqual([first, "clear"]);
  expect(record.skipped).toEqual([second, "mark"]);
  inbox.push(third!);
  inbox.push("clear");
  expect(record.skipped).toEqual([second, "mark", third]);
  await record.release();
  expect(record.taken).toEqual([first, "clear", "clear"]);
  expect(inbox.idle).toBeUndefined();
});

test("an inbox that was long is short after its audio was dropped", () => {
  const { inbox, record } = startInbox();
  for (let i = 0; i < 8; i++) inbox.push(new Uint8Array(2 ** 20 - 1024));
  inbox.push("clear");
  expect(record.reported).toEqual(["long", "short"]);
  for (let i = 0; i < 7; i++) inbox.push(new Uint8Array(2 ** 20 - 1024));
  expect(record.reported).toEqual(["long", "short", "long"]);
});

test("an error is reported once, and no more messages are handled", async () => {
  const { inbox, record } = startInbox();
  inbox.push(new Uint8Array(1));
  inbox.push("throw");
  inbox.push("never");
  await record.release();
  inbox.push("never");
  expect(record.reported).toEqual(["Error: a mistake"]);
  expect(record.taken).toHaveLength(1);
  const otherInbox = startInbox();
  otherInbox.inbox.push("throw");
  expect(otherInbox.record.reported).toEqual(["Error: a mistake"]);
});
