import { describe, expect, test } from "vitest";
import type { Script } from "../../../support/sip/far-end.ts";
import { HttpScene } from "./http-scene.ts";

const TIMINGS = { ringTimeoutMs: 1_500 };

/** A peer that sends these provisional responses after 100 Trying, and no final one. */
const ringingCallee = (...statuses: number[]): Script => ({ rings: statuses, status: "never" });

describe("a call that is not answered within the ring timeout", () => {
  test.each([
    ["180", ringingCallee(180)],
    ["183", ringingCallee(183)],
    ["181", ringingCallee(181)],
    ["182", ringingCallee(182)],
    ["183 with early media", { ...ringingCallee(183), earlyMedia: true }],
  ] as const)("is no_answer after %s", async (_, callee) => {
    const scene = await HttpScene.open(callee, TIMINGS);
    const { status, outcome } = await scene.endedCall();
    expect([status, outcome.reason, outcome.detail]).toEqual(["FAILED", "no_answer", null]);
  });

  test("is unreachable after 100 Trying alone", async () => {
    const scene = await HttpScene.open(ringingCallee(), TIMINGS);
    const { status, outcome } = await scene.endedCall();
    expect([status, outcome.reason, outcome.detail]).toEqual([
      "FAILED",
      "unreachable",
      "the trunk accepted the call (100 Trying), but reported no ringing within 1.5 s",
    ]);
  });

  test("is unreachable over a silent trunk", async () => {
    const scene = await HttpScene.open(ringingCallee(), { ...TIMINGS, trunk: { probe: "none" } });
    scene.farEnd.isUnplugged = true;
    const { status, outcome } = await scene.endedCall();
    expect([status, outcome.reason, outcome.detail]).toEqual([
      "FAILED",
      "unreachable",
      "the trunk did not respond to the INVITE within 1.5 s",
    ]);
  });
});

describe("a call that the network ends", () => {
  const refusingCallee = (status: number, ...provisionalStatuses: number[]): Script => ({
    rings: provisionalStatuses,
    status,
  });

  test.each([
    ["408 after 180", "no_answer", refusingCallee(408, 180)],
    ["408 after 183", "no_answer", refusingCallee(408, 183)],
    ["408 alone", "unreachable", refusingCallee(408)],
    ["480 after 180", "no_answer", refusingCallee(480, 180)],
    ["480 alone", "unreachable", refusingCallee(480)],
    ["480 with Q.850 18", "no_answer", { ...refusingCallee(480), fields: [["Reason", "Q.850;cause=18"]] }],
    ["408 with Q.850 19", "no_answer", { ...refusingCallee(408), fields: [["Reason", "Q.850;cause=19"]] }],
  ] as const)("with %s is %s", async (_, reason, callee) => {
    const scene = await HttpScene.open(callee as Script);
    expect((await scene.endedCall()).outcome.reason).toBe(reason);
  });
});

test("dials over a broken trunk do not lower the answer rate", async () => {
  const answerRate = { floor: 0.5, calls: 2, pauseMs: 3_600_000 };
  const scene = await HttpScene.open(ringingCallee(), { ...TIMINGS, queue: { kind: "single", answerRate } });
  for (let i = 0; i < 3; i++) expect((await scene.endedCall()).outcome.reason).toBe("unreachable");
  expect(scene.farEnd.calls).toHaveLength(3);
});
