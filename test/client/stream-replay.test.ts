import { expect, test } from "vitest";
import { Replay } from "../../src/client/stream/stream-replay.ts";

/** The server's replay: all lasting events, and the latest thousand transient ones. */
class Server {
  readonly #events: { text: string; event: string }[] = [];
  add(event: string, text: string): { text: string; event: string } {
    const entry = { text, event };
    this.#events.push(entry);
    if (this.#events.length > 1_000)
      this.#events.splice(
        this.#events.findIndex(({ event }) => event === "mark"),
        1,
      );
    return entry;
  }
  get replay(): readonly { text: string; event: string }[] {
    return this.#events;
  }
}

test("a reconnection never repeats an old event", () => {
  const server = new Server();
  const replay = new Replay();
  const isNew = ({ text, event }: { text: string; event: string }): boolean => replay.isNew(text, event);
  replay.begin();
  replay.end();
  expect(isNew(server.add("ringing", "ringing"))).toBe(true);
  expect(isNew(server.add("answered", "answered"))).toBe(true);
  for (let i = 0; i < 2_500; i++) {
    expect(isNew(server.add("mark", `mark ${i % 700}`))).toBe(true); // the same text may occur again as a new event
    if (i % 5 === 0) expect(isNew({ event: "buffer_high", text: `high ${i}` })).toBe(true);
  }
  replay.begin();
  expect(server.replay.filter(isNew)).toEqual([]);
  replay.end();
  expect(isNew(server.add("mark", "mark 1"))).toBe(true);
});

test("a transcript before a break is reported once; later ones are new", () => {
  const replay = new Replay();
  replay.begin();
  replay.end();
  for (let i = 0; i < 1_500; i++) expect(replay.isNew(`text ${i}`, "transcript")).toBe(true);
  expect(replay.isNew("mark", "mark")).toBe(true);
  replay.begin();
  expect(replay.isNew("mark", "mark")).toBe(false);
  expect(replay.isNew("text 1498", "transcript")).toBe(false);
  expect(replay.isNew("text 1499", "transcript")).toBe(false);
  expect(replay.isNew("text 1500", "transcript")).toBe(true);
  replay.end();
});
