import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ClockMember, type FrameMs, MediaClock } from "../../../src/audio/playout/media-clock.ts";
import { realSystem } from "../../../src/ports/system.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";

/** A member that records its ticks. */
class Member implements ClockMember {
  readonly frameMs: FrameMs | undefined;
  readonly ticks: number[] = [];
  readonly faults: unknown[] = [];
  readonly #now: () => number;
  readonly #onTick: () => void;

  constructor(now: () => number, onTick: () => void = () => {}, frameMs?: FrameMs) {
    this.frameMs = frameMs;
    this.#now = now;
    this.#onTick = onTick;
  }

  tick(): void {
    this.ticks.push(this.#now());
    this.#onTick();
  }

  tickFailed(fault: unknown): void {
    this.faults.push(fault);
  }
}

/** Number of members with their first tick, by ms. */
function perMs(members: readonly Member[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const [first = -1] of members.map(({ ticks }) => ticks)) counts.set(first, (counts.get(first) ?? 0) + 1);
  return counts;
}

describe("the media clock", () => {
  test.each([undefined, 20, 60] as const)(
    "members with frames of %s ms tick by an absolute schedule, despite timer jitter",
    async (frameMs) => {
      const system = new ManualSystem();
      const lateTimer: ManualSystem["after"] = (ms, run) => ManualSystem.prototype.after.call(system, ms + 0.9, run);
      const clock = new MediaClock({
        now: () => system.now(),
        monotonic: () => system.monotonic(),
        random: () => {},
        after: lateTimer,
      });
      const member = new Member(() => system.monotonic(), undefined, frameMs);
      clock.add(member);
      await system.advance(60_000);
      const ms = frameMs ?? 20;
      expect(member.ticks.length).toBe(60_000 / ms - 1); // the last tick is due now, and its timer is 0.9 ms late
      for (const [index, at] of member.ticks.entries()) expect(at - ms * (index + 1)).toBeLessThan(1);
      expect(clock.lateness.frames).toBe(60_000 / ms - 1);
      expect(clock.lateness.p99).toBeGreaterThan(0.8);
      expect(clock.lateness.max).toBeLessThan(1);
      clock.lateness.reset();
      expect([clock.lateness.frames, clock.lateness.max, clock.lateness.p50]).toEqual([0, 0, 0]);
    },
  );

  test("up to 16 members share a slot, so the process rarely wakes", async () => {
    const system = new ManualSystem();
    const clock = new MediaClock(system);
    const members = Array.from({ length: 40 }, () => new Member(() => system.monotonic()));
    for (const member of members) clock.add(member);
    for (const member of members.slice(0, 10)) clock.remove(member); // their places are taken first
    const otherMembers = Array.from({ length: 18 }, () => new Member(() => system.monotonic()));
    for (const member of otherMembers) clock.add(member);
    await system.advance(20);
    const currentMembers = [...members.slice(10), ...otherMembers];
    expect(currentMembers.every((member) => member.ticks.length === 1)).toBe(true);
    expect([...perMs(currentMembers).values()].sort()).toEqual([16, 16, 16]);
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

  test("members with frames of 60 ms are spread over all slots, alongside those of 20 ms", async () => {
    const system = new ManualSystem();
    const clock = new MediaClock(system);
    const now = () => system.monotonic();
    const slowMembers = Array.from({ length: 1_200 }, () => new Member(now, undefined, 60));
    const fastMembers = Array.from({ length: 200 }, () => new Member(now));
    for (const member of slowMembers) clock.add(member);
    for (const member of fastMembers) clock.add(member);
    await system.advance(60);
    expect([...perMs(slowMembers).values()]).toEqual(Array<number>(60).fill(20));
    expect([...perMs(fastMembers).values()]).toEqual(Array<number>(20).fill(10));
    expect(fastMembers.every(({ ticks }) => ticks.length === 3)).toBe(true);
    for (const member of [...slowMembers, ...fastMembers]) clock.remove(member);
    expect([clock.size, system.waiting]).toEqual([0, 0]);
  });

  test("few members of both kinds share a slot", async () => {
    const system = new ManualSystem();
    const clock = new MediaClock(system);
    const members = ([60, 20, 60, 20] as const).map((ms) => new Member(() => system.monotonic(), undefined, ms));
    for (const member of members) clock.add(member);
    await system.advance(600);
    const times = new Set(members.flatMap(({ ticks }) => ticks.map((at) => at % 20)));
    expect(times.size).toBe(1);
    expect(members.map(({ ticks }) => ticks.length)).toEqual([10, 30, 10, 30]);
  });

  test("members that join and leave tick exactly once per frame", async () => {
    const plan = fc.array(
      fc.record({
        frameMs: fc.constantFrom<FrameMs | undefined>(20, 60, undefined),
        waitMs: fc.integer({ min: 0, max: 130 }),
        leaves: fc.boolean(),
      }),
      { minLength: 1, maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(plan, async (steps) => {
        const system = new ManualSystem();
        const clock = new MediaClock(system);
        const stays: { readonly member: Member; readonly ms: number; readonly from: number; until: number }[] = [];
        for (const { frameMs, waitMs, leaves: isLeaving } of steps) {
          const member = new Member(() => system.monotonic(), undefined, frameMs);
          clock.add(member);
          stays.push({ member, ms: frameMs ?? 20, from: system.monotonic(), until: Infinity });
          await system.advance(waitMs);
          const first = isLeaving ? stays.find(({ until }) => until === Infinity) : undefined;
          if (first === undefined) continue;
          clock.remove(first.member);
          first.until = system.monotonic();
        }
        await system.advance(120);
        for (const { member, ms, from, until } of stays) {
          const stayedMs = Math.min(until, system.monotonic()) - from;
          expect(Math.abs(member.ticks.length - stayedMs / ms)).toBeLessThanOrEqual(1);
          for (const [i, at] of member.ticks.entries()) if (i > 0) expect(at - member.ticks[i - 1]!).toBe(ms);
          if (member.ticks.length > 0) expect(member.ticks[0]! - from).toBeLessThanOrEqual(ms);
        }
        clock.close();
        expect(system.waiting).toBe(0);
      }),
    );
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
    const slowMember = new Member(() => system.monotonic(), undefined, 60);
    const first = new Member(
      () => system.monotonic(),
      () => order.push("one"),
    );
    const second = new Member(
      () => system.monotonic(),
      () => order.push("two"),
    );
    clock.add(first);
    clock.add(second);
    clock.add(slowMember);
    await system.advance(100);
    blockedMs = 1_000;
    const lateMember = new Member(() => system.monotonic());
    clock.add(lateMember);
    await system.advance(20); // 1,120 ms have passed
    expect(first.ticks.length).toBe(56);
    expect(second.ticks.length).toBe(56);
    expect(slowMember.ticks.length).toBe(18);
    expect(order).toEqual(Array.from({ length: 112 }, (_, i) => (i % 2 === 0 ? "one" : "two")));
    expect(lateMember.ticks.length).toBe(1); // ticks missed before it joined do not count
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
    const dueFrames = Math.floor((performance.now() - start) / 20);
    expect(member.ticks.length).toBeGreaterThanOrEqual(dueFrames - 1);
    expect(member.ticks.length).toBeLessThanOrEqual(dueFrames + 1);
    clock.close();
  });

  test("a member that throws is dropped, and the others continue", async () => {
    const system = new ManualSystem();
    const clock = new MediaClock(system);
    const throwingMember = new Member(
      () => 0,
      () => {
        throw new Error("broken");
      },
    );
    const healthyMember = new Member(() => 0);
    clock.add(throwingMember);
    clock.add(healthyMember);
    await system.advance(200);
    expect([throwingMember.ticks.length, throwingMember.faults.length, healthyMember.ticks.length]).toEqual([1, 1, 10]);
  });

  test("members may change each other while ticking", async () => {
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
