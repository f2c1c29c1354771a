import { describe, expect, test } from "vitest";
import { scriptedAgent } from "../../../adapters/agent/scripted/scripted-agent.ts";
import type { Principal } from "../../../src/domain/access/principal.ts";
import type { Call } from "../../../src/domain/calls/call.ts";
import { DEFAULT_TIMINGS } from "../../../src/domain/timings.ts";
import type { Agent, ConversationInput } from "../../../src/ports/conversation.ts";
import type { ScriptedLeg } from "../../../src/testing/scripted-telephony.ts";
import { ALICE, MS_PER_CHARACTER, NUMBER, World, type WorldOptions } from "../../support/application.ts";

const TARGET = "+12025550123";
const GOODBYE = "I connect you now, one moment please.";
const WITH_TRANSFERS: WorldOptions = { capabilities: { transfers: true } };
const ms = (text: string): number => text.length * MS_PER_CHARACTER;

interface Scene {
  readonly world: World;
  readonly call: Call;
  readonly leg: ScriptedLeg;
  /** The agent's inputs. */
  readonly inputs: ConversationInput[];
}

/** A call whose agent says goodbye and transfers it, with one word if that fails. */
async function startTransfer(
  to = TARGET,
  { fields = {}, principal = ALICE, ...options }: WorldOptions & { fields?: object; principal?: Principal } = {},
): Promise<Scene> {
  const inputs: ConversationInput[] = [];
  const agent: Agent = {
    name: "puppet",
    check() {},
    begin: () => ({
      async *reply(input) {
        inputs.push(input);
        if (input.type === "begin") {
          yield { type: "say", text: GOODBYE, interruptible: true };
          yield { type: "transfer", to };
        } else {
          yield { type: "say", text: "Sorry.", interruptible: true };
          yield { type: "listen", forMs: 60_000 };
        }
      },
    }),
    async close() {},
  };
  const world = await World.start({ ...WITH_TRANSFERS, ...options, agent });
  const { call, leg } = await world.answeredAgentCall({ instructions: ["x"], ...fields }, principal);
  return { world, call, leg, inputs };
}

/** Non-silent samples as a duration, ms. */
const soundMs = ({ leg }: Scene): number =>
  (leg.heard.filter((sample) => sample !== 0).length * 1_000) / leg.sampleRate;

/** Records that a number must not be called. */
const forbid = async (world: World, phone: string) =>
  void (await world.app.consents.put(ALICE, phone, { status: "do_not_call" }));

describe("a transfer by an agent", () => {
  test.each([
    [TARGET, TARGET],
    ["+5511987654321", "+551187654321"],
  ])("to %s is refused if %s is forbidden", async (to, forbiddenNumber) => {
    const scene = await startTransfer(to);
    await forbid(scene.world, forbiddenNumber);
    await scene.world.system.advance(ms(GOODBYE) + DEFAULT_TIMINGS.tailMs + 100);
    expect(scene.leg.transfers).toEqual([]);
    expect(scene.inputs.at(-1)).toEqual({
      type: "transfer_failed",
      to,
      detail: `${to} is recorded as a number that must not be called`,
    });
    await scene.world.stop();
  });

  test("ignores calling hours, because the person expects it", async () => {
    const policy = { kind: "single", callingHours: { from: "08:00", until: "20:00" } } as const;
    const london = "+442079460123"; // in a zone where it is midnight
    const scene = await startTransfer(london, { policy });
    await scene.world.system.advance(ms(GOODBYE) + DEFAULT_TIMINGS.tailMs + 100);
    expect(scene.leg.transfers).toEqual([london]);
    await scene.world.stop();
  });

  test("starts once its last words have been heard, and ends the call as agent_finished", async () => {
    const scene = await startTransfer();
    const { world, call, leg } = scene;
    await world.system.advance(ms(GOODBYE) - 100);
    expect(leg.transfers).toEqual([]);
    await world.system.advance(100 + DEFAULT_TIMINGS.tailMs + 40);
    expect(leg.transfers).toEqual([TARGET]);
    expect(Math.abs(soundMs(scene) - ms(GOODBYE))).toBeLessThanOrEqual(40);
    await world.system.advance(20_000);
    expect((await world.storedCall(call)).status).toBe("IN_PROGRESS");
    leg.transferred({ type: "accepted", detail: "SIP 200 OK" });
    await world.system.settle();
    expect(await world.storedCall(call)).toMatchObject({
      status: "COMPLETED",
      outcome: { reason: "agent_finished", detail: `transferred to ${TARGET}: SIP 200 OK` },
    });
    expect(leg.live).toBe(false);
    expect(await world.eventTypes(call)).toEqual([
      ...["queued", "ringing", "answered", "agent_started", "answered_by", "transferred", "completed"],
    ]);
    await world.stop();
    expect(world.system.waiting).toBe(0);
  });

  test("emits an event if it fails, informs the agent, and continues the call", async () => {
    const scene = await startTransfer();
    const { world, call, leg, inputs } = scene;
    await world.system.advance(ms(GOODBYE) + 1_000);
    leg.transferred({ type: "failed", detail: "SIP 486 Busy Here" });
    await world.system.advance(ms("Sorry.") + 500);
    expect(inputs.slice(1)).toEqual([{ type: "transfer_failed", to: TARGET, detail: "SIP 486 Busy Here" }]);
    expect(Math.abs(soundMs(scene) - ms(GOODBYE) - ms("Sorry."))).toBeLessThanOrEqual(60);
    expect((await world.storedCall(call)).status).toBe("IN_PROGRESS");
    const events = await world.timeline(call);
    expect(events.find(({ type }) => type === "transfer_failed")?.data).toEqual({
      to: TARGET,
      reason: "SIP 486 Busy Here",
    });
    leg.press("1"); // the callee is heard again
    await world.system.advance(500);
    expect(inputs.at(-1)).toEqual({ type: "key", digit: "1" });
    await world.stop();
  });

  test("is never interrupted by the callee", async () => {
    const scene = await startTransfer();
    const { world, leg, inputs } = scene;
    await world.system.advance(500);
    leg.press("1");
    await world.system.advance(ms(GOODBYE));
    leg.press("2");
    await world.system.advance(1_000);
    expect(leg.transfers).toEqual([TARGET]);
    expect(inputs).toHaveLength(1);
    expect(Math.abs(soundMs(scene) - ms(GOODBYE))).toBeLessThanOrEqual(40);
    await world.stop();
  });

  test("ends with the call, if the callee hangs up or the call is deleted", async () => {
    for (const end of ["callee", "deletion"] as const) {
      const { world, call, leg } = await startTransfer();
      await world.system.advance(ms(GOODBYE) + 1_000);
      if (end === "callee") leg.end("callee_hung_up");
      else await world.app.calls.hangUp(ALICE, call.id);
      await world.system.settle();
      expect((await world.storedCall(call)).outcome?.reason).toBe(end === "callee" ? "callee_hung_up" : "terminated");
      expect(await world.eventTypes(call)).not.toContain("transfer_failed");
      await world.stop();
      expect(world.system.waiting).toBe(0);
    }
  });

  test("is followed by the last words if it fails when the call is about to end", async () => {
    const scene = await startTransfer(TARGET, { timings: { maxDurationMs: 60_000 } });
    const { world, call, leg, inputs } = scene;
    await world.system.advance(52_000);
    expect(leg.transfers).toEqual([TARGET]);
    expect(inputs).toHaveLength(1);
    leg.transferred({ type: "failed", detail: "SIP 480 Temporarily Unavailable" });
    await world.system.advance(2_000);
    expect(inputs.slice(1).map(({ type }) => type)).toEqual(["transfer_failed", "ending"]);
    await world.system.advance(7_000);
    expect((await world.storedCall(call)).outcome?.reason).toBe("max_duration");
    await world.stop();
  });

  test("fails if the network reports no outcome within 90 s", async () => {
    const { world, leg, inputs } = await startTransfer();
    await world.system.advance(ms(GOODBYE) + 91_000);
    expect(leg.transfers).toEqual([TARGET]);
    expect(inputs.at(-1)).toMatchObject({ detail: "the network reported no outcome within 90 s" });
    await world.stop();
  });
});

describe("a transfer is not requested from the network", () => {
  const refusals: readonly [string, string, Parameters<typeof startTransfer>[1], string][] = [
    ["to an invalid number", "911", {}, "the number must be an E.164 number"],
    ["to a number missing from transferTo", TARGET, { fields: { transferTo: [NUMBER] } }, "transferTo of this call"],
    ["if it cannot transfer", TARGET, { capabilities: {} }, '"scripted" cannot transfer calls'],
    [
      "to a number that the token may not call",
      TARGET,
      { principal: { ...ALICE, allowedPrefixes: [NUMBER] } },
      `this call may not go to ${TARGET}`,
    ],
    [
      "to a number that the server does not call",
      TARGET,
      { callLimits: { allowedPrefixes: [NUMBER] } },
      `this server does not call ${TARGET}`,
    ],
  ];
  test.for(refusals)("%s", async ([, to, options, detail]) => {
    const { world, leg, inputs } = await startTransfer(to, options);
    await world.system.advance(ms(GOODBYE) + 1_000);
    expect(leg.transfers).toEqual([]);
    expect(inputs.at(-1)).toMatchObject({ type: "transfer_failed", detail: expect.stringContaining(detail) });
    await world.stop();
  });

  test("once its token is at its daily limit; before that, it counts like a call", async () => {
    for (const maxCallsPerDay of [1, 2]) {
      const principal = { ...ALICE, tokenId: "tok_1", maxCallsPerDay };
      const { world, leg, inputs } = await startTransfer(TARGET, { principal });
      await world.system.advance(ms(GOODBYE) + 1_000);
      const secondCall = world.app.calls.create(principal, {
        instanceId: (await world.newInstance()).id,
        type: "DYNAMIC_AGENT",
        target: { phoneNumber: NUMBER },
        agent: { instructions: ["x"] },
      });
      await expect(secondCall).rejects.toMatchObject({ code: "daily_call_limit", limit: maxCallsPerDay });
      expect(leg.transfers).toEqual(maxCallsPerDay === 1 ? [] : [TARGET]);
      if (maxCallsPerDay === 1)
        expect(inputs.at(-1)).toMatchObject({
          detail: expect.stringContaining("created 1 calls in the last 24 hours"),
        });
      await world.stop();
    }
  });

  test("by a token without its own limit, once the server's is reached", async () => {
    const options = { principal: { ...ALICE, tokenId: "tok_1" }, callLimits: { maxCallsPerDay: 1 } };
    const { world, leg, inputs } = await startTransfer(TARGET, options);
    await world.system.advance(ms(GOODBYE) + 1_000);
    expect(leg.transfers).toEqual([]);
    expect(inputs.at(-1)).toMatchObject({ type: "transfer_failed", detail: expect.stringContaining("24 hours") });
    await world.stop();
  });

  test("to a number that the network now forbids, or for a user without access", async () => {
    for (const change of ["number", "user"] as const) {
      const { world, leg, inputs } = await startTransfer();
      if (change === "number") world.network.refused.set(TARGET, "trunk acme does not call it: emergency numbers");
      else world.network.users = ["usr_bob"];
      await world.system.advance(ms(GOODBYE) + 1_000);
      expect(leg.transfers).toEqual([]);
      expect(inputs.at(-1)).toMatchObject({ detail: expect.stringMatching(/emergency|may not use/) });
      await world.stop();
    }
  });
});

test("transfer numbers that are not allowed are refused when a call is created", async () => {
  const world = await World.start({ ...WITH_TRANSFERS, agent: scriptedAgent() });
  const { id: instanceId } = await world.activeInstance();
  const create = (transferTo: unknown, principal = ALICE) =>
    world.app.calls.create(principal, {
      instanceId,
      type: "DYNAMIC_AGENT",
      target: { phoneNumber: NUMBER },
      agent: { instructions: ["Say: Hello."], transferTo },
    });
  world.network.refused.set("+12025550911", "trunk acme does not call it");
  await expect(create(["+12025550911"])).rejects.toMatchObject({ code: "destination_not_allowed" });
  const restrictedUser = { ...ALICE, allowedPrefixes: [NUMBER] };
  await expect(create([TARGET], restrictedUser)).rejects.toMatchObject({ code: "destination_not_allowed" });
  await expect(create(["911"])).rejects.toMatchObject({
    errors: [{ pointer: "/agent/transferTo/0", code: "phone_number_invalid" }],
  });
  await expect(create(Array.from({ length: 21 }, () => TARGET))).rejects.toMatchObject({
    errors: [{ pointer: "/agent/transferTo", code: "too_long" }],
  });
  expect(world.network.legs).toEqual([]);
  await world.stop();
});
