import { expect, test } from "vitest";
import { ThreadLoad } from "../../../../adapters/sip-stack/media/worker/thread-load.ts";
import { MediaClock } from "../../../../src/audio/playout/media-clock.ts";
import type { System } from "../../../../src/ports/system.ts";

/** A thread whose timers fire late. */
class LateThread {
  readonly load: ThreadLoad;
  #now = 0;
  #timers: { readonly at: number; readonly run: () => void }[] = [];

  constructor() {
    const system: System = {
      now: () => this.#now,
      monotonic: () => this.#now,
      random: () => {},
      after: (ms, run) => {
        const timer = { at: this.#now + ms, run };
        this.#timers.push(timer);
        return () => {
          this.#timers = this.#timers.filter((other) => other !== timer);
        };
      },
    };
    this.load = new ThreadLoad(new MediaClock(system));
    this.load.setCalls(1);
  }

  /** Lets seconds pass in which each timer is late by `lateMs`. */
  pass(seconds: number, lateMs: number): void {
    const end = this.#now + seconds * 1_000;
    while (this.#now < end) {
      const [timer] = this.#timers.splice(0, 1);
      this.#now = Math.max(this.#now, (timer?.at ?? end) + lateMs);
      timer?.run();
    }
  }
}

test("a thread without calls, or with punctual ones, is not overloaded", () => {
  const { load } = new LateThread();
  expect(load).toMatchObject({ latenessMs: 0, isOverloaded: false });
  const thread = new LateThread();
  thread.pass(10, 3);
  expect(thread.load.isOverloaded).toBe(false);
  expect(thread.load.latenessMs).toBeCloseTo(3, 0);
});

test("a thread whose frames are late for two seconds is overloaded, until they are punctual for two", () => {
  const thread = new LateThread();
  thread.pass(1.5, 45);
  expect(thread.load.isOverloaded).toBe(false);
  thread.pass(2, 45);
  expect(thread.load.isOverloaded).toBe(true);
  expect(thread.load.latenessMs).toBeGreaterThan(20);
  thread.pass(5, 18);
  expect(thread.load.isOverloaded).toBe(true);
  thread.pass(3.5, 1);
  expect(thread.load.isOverloaded).toBe(false);
});

test("a late second among punctual ones is no overload", () => {
  const thread = new LateThread();
  for (let i = 0; i < 5; i++) {
    thread.pass(1, 45);
    thread.pass(3, 1);
    expect(thread.load.isOverloaded).toBe(false);
  }
});

test("the load ends with the last call", () => {
  const thread = new LateThread();
  thread.pass(5, 45);
  expect(thread.load.isOverloaded).toBe(true);
  thread.load.setCalls(0);
  expect(thread.load).toMatchObject({ latenessMs: 0, isOverloaded: false });
});
