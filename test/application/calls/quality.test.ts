import { describe, expect, test } from "vitest";
import type { MediaStatistics } from "../../../src/domain/calls/media-statistics.ts";
import type { ScriptedLeg } from "../../../src/testing/scripted-telephony.ts";
import { ask } from "../../http/support/ask.ts";
import { serve } from "../../http/support/fakes.ts";
import { ALICE, World } from "../../support/application.ts";

const LONG_TEXT = "x".repeat(400); // 20 s of speech
const PACKETS_PER_S = 50;

/** Makes the leg report 50 packets a second each way; `lossOf` returns the share lost in a second. */
function simulateStatistics(world: World, leg: ScriptedLeg, lossOf: (second: number) => number): void {
  const startedAt = world.system.monotonic();
  leg.statistics = (): MediaStatistics => {
    const seconds = Math.floor((world.system.monotonic() - startedAt) / 1_000);
    let lostPackets = 0;
    for (let second = 0; second < seconds; second++) lostPackets += PACKETS_PER_S * lossOf(second);
    return {
      ...{
        codec: "PCMU",
        packetsSent: PACKETS_PER_S * seconds,
        packetsReceived: PACKETS_PER_S * seconds - lostPackets,
      },
      ...{ packetsLost: lostPackets, packetsReordered: 0, packetsDuplicated: 0, packetsInvalid: 0, jitterMs: 2.345_6 },
      ...{ roundTripMs: seconds >= 10 ? 41.239 : null, remoteLoss: 0, mos: 4.2, heldMs: 0 },
    };
  };
}

/** The call as the HTTP interface shows it. */
async function readCall(world: World, { id }: { readonly id: string }) {
  const { app } = serve({ calls: { get: (_, callId) => world.app.calls.get(ALICE, callId) } });
  return (await ask(app, { path: `/v1/calls/${id}?expand=quality,media` })).json;
}

describe("the quality of a call's audio", () => {
  test("is reported every 5 s during the call, and kept afterwards", async () => {
    const world = await World.start();
    const { call, leg } = await world.answeredCall(await world.activeInstance(), LONG_TEXT);
    simulateStatistics(world, leg, (second) => (second >= 5 && second < 10 ? 0.1 : 0));
    await world.system.advance(4_900);
    expect((await readCall(world, call)).quality).toBeNull();
    await world.system.advance(5_200);
    const liveCall = await readCall(world, call);
    const perInterval = { packets_sent: 250, jitter_ms: 2.35, remote_loss: 0 };
    expect(liveCall.quality.intervals).toEqual([
      { ...perInterval, until_ms: 5_000, packets_received: 250, packets_lost: 0, round_trip_ms: null },
      { ...perInterval, until_ms: 10_000, packets_received: 225, packets_lost: 25, round_trip_ms: 41.24 },
    ]);
    expect(liveCall.media.stream).toBeNull();
    expect((await world.app.calls.list(ALICE))[0]?.quality).toHaveLength(2);

    await world.system.advance(12_000);
    const finalCall = await readCall(world, call);
    expect(finalCall.status).toBe("COMPLETED");
    const { intervals } = finalCall.quality as { intervals: Record<string, number>[] };
    expect(intervals.slice(0, 2)).toEqual(liveCall.quality.intervals);
    expect(intervals.map(({ until_ms }) => until_ms)).toEqual([5_000, 10_000, 15_000, 20_000, expect.any(Number)]);
    expect(intervals.at(-1)?.until_ms).toBe(Date.parse(finalCall.ended_at) - Date.parse(finalCall.started_at));
    for (const name of ["packets_sent", "packets_received", "packets_lost"])
      expect(intervals.reduce((sum, interval) => sum + (interval[name] ?? 0), 0)).toBe(finalCall.media.stream[name]);
    expect((await world.storedCall(call)).quality).toHaveLength(5);
    await world.stop();
  });

  test("covers a call of any length", async () => {
    const world = await World.start({ timings: { maxDurationMs: 3_600_000 } });
    const { call, leg } = await world.answeredCall(await world.activeInstance(), LONG_TEXT);
    leg.hold(); // for twelve minutes
    simulateStatistics(world, leg, () => 0.02);
    await world.system.advance(720_000);
    const { intervals } = (await readCall(world, call)).quality as { intervals: Record<string, number>[] };
    expect(intervals.length).toBe(72);
    expect(intervals.map((interval) => [interval.until_ms, interval.packets_lost])).toEqual(
      intervals.map((_, i) => [(i + 1) * 10_000, 10]),
    );
    await world.stop();
  });

  test("is not measured on a network without statistics", async () => {
    const world = await World.start();
    const { call } = await world.answeredCall(await world.activeInstance(), LONG_TEXT);
    await world.system.advance(11_000);
    expect((await readCall(world, call)).quality).toBeNull();
    await world.system.advance(12_000);
    expect(await readCall(world, call)).toMatchObject({ status: "COMPLETED", quality: null });
    await world.stop();
  });

  test("ends with the last figures if the network stops reporting", async () => {
    const world = await World.start();
    const { call, leg } = await world.answeredCall(await world.activeInstance(), LONG_TEXT);
    simulateStatistics(world, leg, () => 0);
    await world.system.advance(6_000);
    leg.statistics = () => {
      throw new Error("the worker is gone");
    };
    await world.system.advance(20_000);
    expect(await world.storedCall(call)).toMatchObject({
      outcome: { reason: "message_played" },
      mediaStatistics: null,
      quality: [{ untilMs: 5_000, packetsSent: 250 }],
    });
    await world.stop();
  });

  test("is not measured for an unanswered call", async () => {
    const world = await World.start();
    const call = await world.call(await world.activeInstance());
    const leg = world.leg(call);
    simulateStatistics(world, leg, () => 0);
    leg.placed();
    await world.system.advance(7_000);
    leg.end("busy");
    await world.system.settle();
    expect((await world.storedCall(call)).quality).toBeUndefined();
    await world.stop();
  });
});
