import { describe, expect, test } from "vitest";
import { DialError } from "../../../src/ports/telephony.ts";
import { puppet } from "../../support/agent-calls.ts";
import { ALICE, NUMBER, World, type WorldOptions } from "../../support/application.ts";

const agent = puppet(async function* () {});
const OPTIONS: WorldOptions = { agent, streamPreview: true, capabilities: { receivesAudio: false } };
const LIVE_CALLS = [
  ["DYNAMIC_AGENT", "agent_unavailable"],
  ["DYNAMIC_STREAM", "stream_unavailable"],
] as const;

async function create(world: World, type: "DYNAMIC_AGENT" | "DYNAMIC_STREAM", isStrict = false) {
  const { id: instanceId } = await world.activeInstance();
  const input = { instanceId, type, target: { phoneNumber: NUMBER }, agent: { instructions: ["Say hello"] } };
  return world.app.calls.create(ALICE, input, { strict: isStrict });
}

describe("on a network that does not return the callee's audio", () => {
  test.each(LIVE_CALLS)("a refused %s fails before dialling, as %s", async (type, reason) => {
    const world = await World.start({ ...OPTIONS, oneWayCalls: "refuse" });
    const call = await create(world, type);
    await world.system.settle();
    const { status, outcome } = await world.storedCall(call);
    expect({ status, reason: outcome?.reason }).toEqual({ status: "FAILED", reason });
    expect(outcome?.detail).toMatch(/does not return the callee's audio.*oneWayCalls.*FIXED_TTS/);
    expect(world.network.legs).toEqual([]);
    expect(await world.eventTypes(call)).toEqual(["queued", "failed"]);
    await world.stop();
  });

  test("strict handling creates no refused agent call", async () => {
    const world = await World.start({ ...OPTIONS, oneWayCalls: "refuse" });
    await expect(create(world, "DYNAMIC_AGENT", true)).rejects.toMatchObject({ code: "agent_unavailable" });
    await world.stop();
  });

  test.each(LIVE_CALLS)("a %s is dialled with a warning by default", async (type) => {
    const world = await World.start(OPTIONS);
    const call = await create(world, type);
    await world.system.settle();
    expect(world.network.legs).toHaveLength(1);
    expect(await world.eventTypes(call)).toEqual(["queued", "media.one_way"]);
    await world.stop();
  });

  test("a call gets the warning once, even if the line refuses it several times", async () => {
    const world = await World.start(OPTIONS);
    let refusals = 3;
    world.network.onDial = () => {
      if (refusals-- > 0) throw new DialError("line_lost", "the line is full", { retryAfterMs: 10_000 });
    };
    const call = await create(world, "DYNAMIC_STREAM");
    await world.system.settle();
    expect(await world.eventTypes(call)).toEqual(["queued"]);
    await world.system.advance(60_000);
    expect(world.network.legs).toHaveLength(4);
    expect((await world.eventTypes(call)).filter((event) => event === "media.one_way")).toHaveLength(1);
    await world.stop();
  });

  test("an unplaced call has no warning", async () => {
    const world = await World.start(OPTIONS);
    world.network.onDial = () => {
      throw new DialError("paused", "the number may not call strangers");
    };
    const call = await create(world, "DYNAMIC_STREAM");
    await world.system.advance(5_000);
    expect((await world.storedCall(call)).outcome?.reason).toBe("instance_paused");
    expect(await world.eventTypes(call)).not.toContain("media.one_way");
    await world.stop();
  });

  test("a fixed message is dialled without a warning, even if live calls are refused", async () => {
    const world = await World.start({ ...OPTIONS, oneWayCalls: "refuse" });
    const { call } = await world.answeredCall(await world.activeInstance());
    await world.system.advance(5_000);
    expect((await world.storedCall(call)).status).toBe("COMPLETED");
    expect(await world.eventTypes(call)).not.toContain("media.one_way");
    await world.stop();
  });

  test("users see the limitation before creating instances", async () => {
    const world = await World.start(OPTIONS);
    expect(await world.app.queries.networks(ALICE)).toMatchObject([{ receivesAudio: false }]);
    await world.stop();
  });
});

test("calls on a network that returns audio get no warning", async () => {
  const world = await World.start({ ...OPTIONS, capabilities: {}, oneWayCalls: "refuse" });
  for (const [type] of LIVE_CALLS) {
    const call = await create(world, type);
    await world.system.settle();
    expect(await world.eventTypes(call)).not.toContain("media.one_way");
  }
  expect(world.network.legs).toHaveLength(2);
  await world.stop();
});
