import { describe, expect, test } from "vitest";
import { scriptedAgent } from "../../../adapters/agent/scripted/scripted-agent.ts";
import { concatPcm, msToSamples } from "../../../src/audio/samples/pcm.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import type { Call } from "../../../src/domain/calls/call.ts";
import type { Agent, ConversationAction, ConversationInput } from "../../../src/ports/conversation.ts";
import type { ScriptedLeg } from "../../../src/testing/scripted-telephony.ts";
import { babble } from "../../audio/noise.ts";
import { MS_PER_CHARACTER, World } from "../../support/application.ts";

const INTRODUCTION = "This is an automated call.";
const WORDS = "Your parcel is here.";
const QUESTION = "Press 1 to hear that again.";
const GREETING_MS = 8_000;

interface Scene {
  readonly world: World;
  readonly call: Call;
  readonly leg: ScriptedLeg;
}

/** An agent call that a machine answers: a greeting, and a beep half a second later. */
async function machineAnswers(agent: Agent, options: object, instructions = ["Do it."]): Promise<Scene> {
  const world = await World.start({ agent });
  const { call, leg } = await world.answeredAgentCall({ instructions, ...options });
  leg.say(concatPcm([babble(GREETING_MS, 8_000, 3_000, 5), new Int16Array(4_000), tone(1_000, 400, 8_000, 9_000)]));
  await world.system.settle();
  return { world, call, leg };
}

/** Sound that the callee heard between two times, ms. */
function soundMs({ leg }: Scene, fromMs: number, toMs = Number.POSITIVE_INFINITY): number {
  const samples = leg.heard.subarray(msToSamples(fromMs, leg.sampleRate), msToSamples(toMs, leg.sampleRate));
  return (samples.filter((sample) => sample !== 0).length * 1_000) / leg.sampleRate;
}

const ms = (...texts: string[]): number => texts.join("").length * MS_PER_CHARACTER;

function puppet(reply: (input: ConversationInput) => AsyncIterable<ConversationAction>): Agent {
  return { name: "puppet", check() {}, begin: () => ({ reply }), async close() {} };
}

describe("an agent that a machine answers", () => {
  test("leaves its script's sentences after the beep, and hangs up", async () => {
    const script = [`Say: ${WORDS}`, `Ask again: ${QUESTION}`, "If 1: ask again."];
    const scene = await machineAnswers(scriptedAgent(), { onMachine: "leave_message" }, script);
    await scene.world.system.advance(7_000);
    expect(soundMs(scene, 6_200), "silent until the beep").toBe(0);
    await scene.world.system.advance(12_000);
    expect(await scene.world.storedCall(scene.call)).toMatchObject({
      status: "COMPLETED",
      outcome: { reason: "agent_finished", answeredBy: "machine" },
    });
    expect(soundMs(scene, 6_200, 8_900)).toBe(0);
    expect(soundMs(scene, 8_900)).toBeCloseTo(ms(INTRODUCTION, WORDS), -2);
    await scene.world.stop();
  });

  test("leaves a message even if it said goodbye before the verdict", async () => {
    const scene = await machineAnswers(scriptedAgent(), { onMachine: "leave_message" }, [`Say: ${WORDS}`]);
    await scene.world.system.advance(20_000);
    expect(soundMs(scene, 0, 6_000)).toBeCloseTo(ms(INTRODUCTION, WORDS), -2);
    expect(soundMs(scene, 8_900)).toBeCloseTo(ms(INTRODUCTION, WORDS), -2);
    expect((await scene.world.storedCall(scene.call)).outcome?.reason).toBe("agent_finished");
    await scene.world.stop();
  });

  test("ends COMPLETED/machine_hung_up on request", async () => {
    const scene = await machineAnswers(scriptedAgent(), { onMachine: "hang_up" }, [`Ask: ${QUESTION}`]);
    await scene.world.system.advance(7_000);
    expect((await scene.world.storedCall(scene.call)).outcome?.reason).toBe("machine_hung_up");
    await scene.world.stop();
  });

  test("leaves the agent's entire voicemail after the beep", async () => {
    const inputs: string[] = [];
    const agent = puppet(async function* (input) {
      inputs.push(input.type);
      if (input.type === "begin") yield { type: "listen", forMs: 3_000 };
      else yield { type: "leave_voicemail", text: WORDS };
    });
    const scene = await machineAnswers(agent, {});
    scene.leg.press("1");
    await scene.world.system.advance(9_200);
    scene.leg.press("2");
    await scene.world.system.advance(10_000);
    expect(inputs).toEqual(["begin", "key"]);
    expect(soundMs(scene, 0, 8_900)).toBe(0);
    expect(soundMs(scene, 8_900)).toBeCloseTo(ms(WORDS), -2);
    const { outcome } = await scene.world.storedCall(scene.call);
    expect(outcome).toMatchObject({ reason: "agent_finished", answeredBy: "machine" });
    const verdicts = (await scene.world.timeline(scene.call)).filter(({ type }) => type === "answered_by");
    expect(verdicts.slice(0, 2).map(({ data }) => data)).toMatchObject([
      { answered_by: "human", reason: "key" },
      { answered_by: "machine", reason: "agent" },
    ]);
    await scene.world.stop();
  });
});
