import { describe, expect, test } from "vitest";
import { MediaClock, type Ticking } from "../../../adapters/telephony/media-clock.ts";
import { realSystem } from "../../../src/ports/system.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";

/** A member that notes when it ticks. */
class Member implements Ticking {
  readonly ticks: number[] = [];
  readonly faults: unknown[] = [];
  readonly #now: () => number;
  readonly #then: () => void;

  constructor(now: () => number, then: () => void = () => {}) {
    this.#now = now;
    this.#then = then;
  }

  tick(): void {
    this.ticks.push(this.#now());
    this.#then();
  }

  tickFailed(fault: unknown): void {
    this.faults.push(fault);
  }
}

/** How many members had their first tick at which ms. */
function perMs(members: readonly Member[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const [first = -1] of members.map(({ ticks }) => ticks)) counts.set(first, (counts.get(first) ?? 0) + 1);
  return counts;
}

describe("the media clock", () => {
  test("members tick every 20 ms of an absolute schedule, despite timer jitter", async () => {
    const system = new ManualSystem();
    const late: ManualSystem["after"] = (ms, run) => ManualSystem.prototype.after.call(system, ms + 0.9, run);
    const clock = new MediaClock({
      now: () => system.now(),
      monotonic: () => system.monotonic(),
      random: () => {},
      after: late,
    });
    const member = new Member(() => system.monotonic());
    clock.add(member);
    await system.advance(60_000);
    expect(member.ticks.length).toBe(2_999); // the 3000th is due now, and its timer 0.9 ms late
    for (const [index, at] of member.ticks.entries()) expect(at - 20 * (index + 1)).toBeLessThan(1);
    expect(clock.lateness.frames).toBe(2_999);
    expect(clock.lateness.p99).toBeGreaterThan(0.8);
    expect(clock.lateness.max).toBeLessThan(1);
    clock.lateness.reset();
    expect([clock.lateness.frames, clock.lateness.max, clock.lateness.p50]).toEqual([0, 0, 0]);
  });

  test("up to 16 members share a slot, so the process rarely wakes", async () => {
    const system = new ManualSystem();
    const clock = new MediaClock(system);
    const members = Array.from({ length: 40 }, () => new Member(() => system.monotonic()));
    for (const member of members) clock.add(member);
    for (const member of members.slice(0, 10)) clock.remove(member); // their places are taken first
    const others = Array.from({ length: 18 }, () => new Member(() => system.monotonic()));
    for (const member of others) clock.add(member);
    await system.advance(20);
    const all = [...members.slice(10), ...others];
    expect(all.every((member) => member.ticks.length === 1)).toBe(true);
    expect([...perMs(all).values()].sort()).toEqual([16, 16, 16]);
    expect(clock.size).toBe(48);
  });

  test("many members are spread evenly over 20 slots", async () => {
    const system = new ManualSystem();
    const clock = new MediaClock(system);
    const members = Array.from({ length: 460 }, () => new Member(() => system.monotonic()));
    for (const member of members) clock.add(member);
    await system.advance(20);
    expect([...perMs(members).values()]).toEqual(Array<number>(20).fill(23));
  });

  test("frames missed by a blocked event loop are caught up in order", async () => {
    const system = new ManualSystem();
    let blockedMs = 0;
    const clock = new MediaClock({
      now: () => system.now(),
      monotonic: () => system.monotonic() + blockedMs,
      random: () => {},
      after: (ms, run) => system.after(ms, run),
    });
    const order: string[] = [];
    const one = new Member(
      () => system.monotonic(),
      () => order.push("one"),
    );
    const two = new Member(
      () => system.monotonic(),
      () => order.push("two"),
    );
    clock.add(one);
    clock.add(two);
    await system.advance(100);
    blockedMs = 1_000;
    const joined = new Member(() => system.monotonic());
    clock.add(joined);
    await system.advance(20); // 1,120 ms are over
    expect(one.ticks.length).toBe(56);
    expect(two.ticks.length).toBe(56);
    expect(order).toEqual(Array.from({ length: 112 }, (_, i) => (i % 2 === 0 ? "one" : "two")));
    expect(joined.ticks.length).toBe(1); // what was missed before its time is not its business
  });

  test("the clock keeps up with real time although the loop blocks repeatedly", async () => {
    const clock = new MediaClock(realSystem);
    const member = new Member(() => performance.now());
    const start = performance.now();
    clock.add(member);
    for (let i = 0; i < 3; i++) {
      const end = performance.now() + 150;
      while (performance.now() < end);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const due = Math.floor((performance.now() - start) / 20);
    expect(member.ticks.length).toBeGreaterThanOrEqual(due - 1);
    expect(member.ticks.length).toBeLessThanOrEqual(due + 1);
    clock.close();
  });

  test("a member that throws is dropped, and the others go on", async () => {
    const system = new ManualSystem();
    const clock = new MediaClock(system);
    const broken = new Member(
      () => 0,
      () => {
        throw new Error("broken");
      },
    );
    const whole = new Member(() => 0);
    clock.add(broken);
    clock.add(whole);
    await system.advance(200);
    expect([broken.ticks.length, broken.faults.length, whole.ticks.length]).toEqual([1, 1, 10]);
  });

  test("members may add and remove each other while they tick", async () => {
    const system = new ManualSystem();
    const clock = new MediaClock(system);
    const members: Member[] = [];
    for (let i = 0; i < 80; i++)
      members.push(
        new Member(
          () => system.monotonic(),
          () => {
            clock.remove(members[(i + 20) % 80]!);
            clock.add(members[(i + 40) % 80]!);
          },
        ),
      );
    for (const member of members) clock.add(member);
    await system.advance(1_000);
    for (const { ticks } of members)
      for (let i = 1; i < ticks.length; i++) expect(ticks[i]! - ticks[i - 1]!).toBeGreaterThan(0);
    expect(clock.size).toBeGreaterThan(0);
  });

  test("no timer runs without members", async () => {
    const system = new ManualSystem();
    const clock = new MediaClock(system);
    expect(system.waiting).toBe(0);
    const member = new Member(() => 0);
    clock.add(member);
    clock.add(member);
    await system.advance(100);
    expect([clock.size, system.waiting, member.ticks.length]).toEqual([1, 1, 5]);
    clock.remove(member);
    clock.remove(member);
    expect([clock.size, system.waiting]).toEqual([0, 0]);
    clock.close();
    clock.add(member);
    expect([clock.size, system.waiting]).toEqual([0, 0]);
  });
});
