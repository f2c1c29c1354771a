import { describe, expect, test } from "vitest";
// Loaded up front: the core imports it for the first such call, and a manual clock does not wait for imports.
import "../../../src/application/call-audio/agents/audio-agent-call.ts";
import { concatPcm, msToSamples } from "../../../src/audio/samples/pcm.ts";
import { tone, toneShare } from "../../../src/audio/tones/tone.ts";
import type { Call } from "../../../src/domain/calls/call.ts";
import type { HeardItem } from "../../../src/ports/audio-conversation.ts";
import type { ScriptedLeg } from "../../../src/testing/scripted-telephony.ts";
import { babble } from "../../audio/noise.ts";
import { ALICE, NUMBER, World } from "../../support/application.ts";
import { type Puppet, puppets } from "../../support/audio-puppet.ts";

const SCHEMA = { type: "object", properties: { day: { type: "string" } }, required: ["day"] };
/** The machine's greeting lasts 8 s; its beep ends 900 ms later. */
const GREETING_MS = 8_000;
const BEEP_END_MS = 8_900;

interface Scene {
  readonly world: World;
  readonly call: Call;
  readonly leg: ScriptedLeg;
  readonly puppet: Puppet;
}

async function startConversation(extraFields: object): Promise<Scene> {
  const { agent, conversations } = puppets();
  const world = await World.start({ agent });
  const { call, leg } = await world.answeredAgentCall({ instructions: ["Ask for the day."], ...extraFields });
  return { world, call, leg, puppet: conversations[0]! };
}

function soundMs({ leg }: Scene, fromMs: number, toMs = Number.POSITIVE_INFINITY): number {
  const samples = leg.heard.subarray(msToSamples(fromMs, leg.sampleRate), msToSamples(toMs, leg.sampleRate));
  return (samples.filter((sample) => Math.abs(sample) > 50).length * 1_000) / leg.sampleRate;
}

describe("the result of a call with an audio agent", () => {
  test("is reported during the goodbye and stored with the end of the call", async () => {
    const { world, call, puppet } = await startConversation({ resultSchema: SCHEMA });
    puppet.results.push({ day: "Monday" });
    puppet.emit({ type: "reply", to: "begin" });
    puppet.speak("a", 2_000, "Goodbye.");
    puppet.emit({ type: "hang_up" });
    await world.system.advance(1_000);
    expect(puppet.faults, "asked while the goodbye is played").toEqual([undefined]);
    await world.system.advance(2_500);
    expect(await world.storedCall(call)).toMatchObject({ status: "COMPLETED", result: { day: "Monday" } });
    expect((await world.eventTypes(call)).slice(-2)).toEqual(["result_ready", "completed"]);
    expect(puppet.signal.aborted).toBe(true);
    await world.stop();
  });

  test("is repaired once", async () => {
    const { world, call, puppet } = await startConversation({ resultSchema: SCHEMA });
    puppet.results.push({ day: 5 }, { day: "Monday" });
    puppet.emit({ type: "hang_up" });
    await world.system.advance(1_500);
    expect(puppet.faults).toEqual([undefined, "the result does not match resultSchema: /day must be a string"]);
    expect((await world.storedCall(call)).result).toEqual({ day: "Monday" });
    await world.stop();
  });

  test("is still reported if the callee hangs up first, within the conversation's limit", async () => {
    const { world, call, leg, puppet } = await startConversation({ resultSchema: SCHEMA });
    let resolveReport = (_: unknown): void => {};
    puppet.results.push(
      new Promise((resolve) => {
        resolveReport = resolve;
      }),
    );
    puppet.emit({ type: "reply", to: "begin" });
    puppet.speak("a", 5_000, "One two three four five.");
    await world.system.advance(1_000);
    leg.end("callee_hung_up");
    await world.system.advance(1_500);
    expect((await world.storedCall(call)).resultError).toContain("not known yet");
    const [interruptedItem] = puppet.reports.filter((report): report is HeardItem[] => Array.isArray(report)).flat();
    expect(Math.abs(interruptedItem!.heardMs - 1_000)).toBeLessThanOrEqual(60);
    expect(puppet.signal.aborted).toBe(false);
    resolveReport({ day: "Monday" });
    await world.system.advance(100);
    expect(await world.storedCall(call)).toMatchObject({ status: "COMPLETED", result: { day: "Monday" } });
    expect(puppet.signal.aborted).toBe(true);
    await world.stop();
  });

  test("is abandoned 10 s after the call", async () => {
    const { world, call, leg, puppet } = await startConversation({ resultSchema: SCHEMA });
    leg.end("callee_hung_up");
    await world.system.advance(10_200);
    expect((await world.storedCall(call)).resultError).toContain("it took longer than 10 s after the call");
    expect(puppet.signal.aborted).toBe(true);
    await world.stop();
    expect(world.system.waiting).toBe(0);
  });

  test("is not requested if the call is not answered", async () => {
    const { agent, conversations } = puppets();
    const world = await World.start({ agent });
    const { id: instanceId } = await world.activeInstance();
    const call = await world.app.calls.create(ALICE, {
      ...{ instanceId, type: "DYNAMIC_AGENT", target: { phoneNumber: NUMBER } },
      agent: { instructions: ["x"], resultSchema: SCHEMA },
    });
    await world.system.settle();
    await world.system.settle();
    world.leg(call).placed();
    world.leg(call).end("busy");
    await world.system.advance(1_000);
    expect((await world.storedCall(call)).outcome?.reason).toBe("busy");
    expect(conversations[0]!.faults).toEqual([]);
    expect(conversations[0]!.signal.aborted).toBe(true);
    await world.stop();
  });
});

describe("an audio agent that a machine answers", () => {
  const machine = (): Int16Array =>
    concatPcm([babble(GREETING_MS, 8_000, 3_000, 5), new Int16Array(4_000), tone(1_000, 400, 8_000, 9_000)]);

  test("is silent until the beep, then leaves its message", async () => {
    const scene = await startConversation({ onMachine: "leave_message" });
    const { world, call, leg, puppet } = scene;
    puppet.emit({ type: "reply", to: "begin" });
    puppet.speak("a", 30_000, "A long greeting.");
    leg.say(machine());
    await world.system.advance(7_000);
    const heardBefore = Buffer.concat(puppet.heard).length;
    // Late audio is not played.
    puppet.emit({ type: "reply", to: "words" });
    puppet.speak("b", 500, "Yes?");
    puppet.emit({ type: "hang_up" });
    await world.system.advance(1_000);
    expect(soundMs(scene, 6_300)).toBe(0);
    expect(puppet.reports).not.toContain("voicemail");
    await world.system.advance(1_500);
    expect(puppet.reports.at(-1)).toBe("voicemail");
    puppet.emit({ type: "reply", to: "voicemail" });
    puppet.speak("c", 2_000, "Please call back.", 880);
    puppet.emit({ type: "hang_up" });
    await world.system.advance(500);
    leg.press("1");
    leg.say(babble(500, 8_000, 3_000, 5));
    await world.system.advance(3_500);
    expect(await world.storedCall(call)).toMatchObject({
      status: "COMPLETED",
      outcome: { reason: "agent_finished", answeredBy: "machine" },
    });
    expect(Math.abs(soundMs(scene, BEEP_END_MS) - 0.97 * 2_000)).toBeLessThan(80);
    const at = msToSamples(10_000, 8_000);
    expect(toneShare(leg.heard.subarray(at, at + 2_000), 880, 8_000)).toBeGreaterThan(0.9);
    expect(Buffer.concat(puppet.heard).length, "nothing of the machine's greeting").toBe(heardBefore);
    await world.stop();
  });

  test("leaves a message even if it said goodbye before the verdict", async () => {
    const scene = await startConversation({ onMachine: "leave_message" });
    const { world, call, leg, puppet } = scene;
    puppet.emit({ type: "reply", to: "begin" });
    puppet.speak("a", 1_000, "Goodbye.");
    puppet.emit({ type: "hang_up" });
    leg.say(machine());
    await world.system.advance(9_500);
    expect(puppet.reports).toContain("voicemail");
    puppet.speak("b", 1_000, "Please call back.");
    puppet.emit({ type: "hang_up" });
    await world.system.advance(2_500);
    expect(Math.abs(soundMs(scene, BEEP_END_MS) - 0.97 * 1_000)).toBeLessThan(80);
    expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "agent_finished", answeredBy: "machine" });
    await world.stop();
  });

  test("hangs up if onMachine is hang_up", async () => {
    const { world, call, leg } = await startConversation({ onMachine: "hang_up" });
    leg.say(machine());
    await world.system.advance(7_000);
    expect((await world.storedCall(call)).outcome?.reason).toBe("machine_hung_up");
    await world.stop();
  });

  test("waits for the beep if the agent itself leaves a voicemail", async () => {
    const scene = await startConversation({});
    const { world, call, leg, puppet } = scene;
    leg.say(machine());
    await world.system.advance(3_000);
    puppet.emit({ type: "leave_voicemail" });
    await world.system.advance(5_000);
    expect(puppet.reports).not.toContain("voicemail");
    await world.system.advance(1_500);
    expect(puppet.reports).toContain("voicemail");
    puppet.speak("a", 1_000, "Please call back.");
    puppet.emit({ type: "hang_up" });
    await world.system.advance(2_500);
    expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "agent_finished", answeredBy: "machine" });
    expect(Math.abs(soundMs(scene, BEEP_END_MS) - 0.97 * 1_000)).toBeLessThan(80);
    const verdicts = (await world.timeline(call)).filter(({ type }) => type === "answered_by");
    expect(verdicts.map(({ data }) => data)).toContainEqual(
      expect.objectContaining({ answered_by: "machine", reason: "agent" }),
    );
    await world.stop();
  });

  test("hangs up silently after its conversation", async () => {
    const { world, call, leg, puppet } = await startConversation({ onMachine: "leave_message" });
    puppet.events.close();
    leg.say(machine());
    await world.system.advance(11_000);
    expect((await world.storedCall(call)).outcome?.reason).toBe("agent_finished");
    await world.stop();
  });
});
