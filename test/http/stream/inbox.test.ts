import { expect, test } from "vitest";
import { Inbox } from "../../../src/http/stream/inbox.ts";

interface Seen {
  readonly taken: (string | Uint8Array)[];
  readonly reported: string[];
  /** Completes the message that is being taken. */
  release(): Promise<void>;
}

/** An inbox whose binary messages are pending until they are released. */
function inbox(): { box: Inbox; seen: Seen } {
  const taken: (string | Uint8Array)[] = [];
  const reported: string[] = [];
  let done = (): void => {};
  const box = new Inbox({
    take(message) {
      if (message === "throw") throw new Error("a mistake");
      taken.push(message);
      if (typeof message === "string") return;
      return new Promise((resolve) => {
        done = resolve;
      });
    },
    long: (isLong) => reported.push(isLong ? "long" : "short"),
    full: () => reported.push("full"),
    broken: (cause) => reported.push(String(cause)),
  });
  const release = async (): Promise<void> => {
    done();
    await new Promise((resolve) => setTimeout(resolve));
  };
  return { box, seen: { taken, reported, release } };
}

test("a message is taken at once, or after the pending one", async () => {
  const { box, seen } = inbox();
  box.push("a");
  expect(seen.taken).toEqual(["a"]);
  expect(box.done).toBeUndefined();
  box.push(new Uint8Array(1));
  box.push("b");
  box.push("c");
  expect(seen.taken).toHaveLength(2);
  expect(box.done).toBeDefined();
  await seen.release();
  expect(seen.taken.slice(2)).toEqual(["b", "c"]);
  expect(box.done).toBeUndefined();
});

test("the inbox reports that it is long, and then short again", async () => {
  const { box, seen } = inbox();
  for (let i = 0; i < 6; i++) box.push(new Uint8Array(65_536));
  expect(seen.reported).toEqual(["long"]);
  for (let i = 0; i < 6; i++) await seen.release();
  expect(seen.reported).toEqual(["long", "short"]);
  expect(seen.taken).toHaveLength(6);
});

test.each([
  [1_048_576, 6],
  [0, 20_000],
])("the number of waiting messages of %i bytes is bounded", async (size, count) => {
  const { box, seen } = inbox();
  for (let i = 0; i < count; i++) box.push(new Uint8Array(size));
  expect(seen.reported).toEqual(["long", "full"]);
  await seen.release();
  expect(seen.taken).toHaveLength(1);
});

test("an error is reported once, and no more messages are taken", async () => {
  const { box, seen } = inbox();
  box.push(new Uint8Array(1));
  box.push("throw");
  box.push("never");
  await seen.release();
  box.push("never");
  expect(seen.reported).toEqual(["Error: a mistake"]);
  expect(seen.taken).toHaveLength(1);
  const other = inbox();
  other.box.push("throw");
  expect(other.seen.reported).toEqual(["Error: a mistake"]);
});
