import { expect, test } from "vitest";
import { Replay } from "../../src/client/stream-replay.ts";

/** What a server tells to each connection: what lasts, and the last thousand of what passes. */
class Told {
  readonly #events: { text: string; event: string }[] = [];
  add(event: string, text: string): { text: string; event: string } {
    const told = { text, event };
    this.#events.push(told);
    if (this.#events.length > 1_000)
      this.#events.splice(
        this.#events.findIndex(({ event }) => event === "mark"),
        1,
      );
    return told;
  }
  get again(): readonly { text: string; event: string }[] {
    return this.#events;
  }
}

test("after any number of events a connection that comes back brings no old one as a new one", () => {
  const told = new Told();
  const replay = new Replay();
  const isNew = ({ text, event }: { text: string; event: string }): boolean => replay.isNew(text, event);
  replay.begin();
  replay.over();
  expect(isNew(told.add("ringing", "ringing"))).toBe(true);
  expect(isNew(told.add("answered", "answered"))).toBe(true);
  for (let i = 0; i < 2_500; i++) {
    expect(isNew(told.add("mark", `mark ${i % 700}`))).toBe(true); // the same text may come again, and is news
    if (i % 5 === 0) expect(isNew({ event: "buffer_high", text: `high ${i}` })).toBe(true);
  }
  replay.begin();
  expect(told.again.filter(isNew)).toEqual([]);
  replay.over();
  expect(isNew(told.add("mark", "mark 1"))).toBe(true);
});

test("what was said before a break is told once, and what was said meanwhile is news", () => {
  const replay = new Replay();
  replay.begin();
  replay.over();
  for (let i = 0; i < 1_500; i++) expect(replay.isNew(`said ${i}`, "transcript")).toBe(true);
  expect(replay.isNew("mark", "mark")).toBe(true);
  replay.begin();
  expect(replay.isNew("mark", "mark")).toBe(false);
  expect(replay.isNew("said 1498", "transcript")).toBe(false);
  expect(replay.isNew("said 1499", "transcript")).toBe(false);
  expect(replay.isNew("said 1500", "transcript")).toBe(true);
  replay.over();
});
