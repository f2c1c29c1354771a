import { scriptedAgent } from "../../adapters/agent/scripted/scripted-agent.ts";
import { msToSamples } from "../../src/audio/samples/pcm.ts";
import { tone } from "../../src/audio/tones/tone.ts";
import type { Call } from "../../src/domain/calls/call.ts";
import type { Agent, ConversationAction, ConversationInput } from "../../src/ports/conversation.ts";
import type { ScriptedLeg } from "../../src/testing/scripted-telephony.ts";
import { ALICE, MS_PER_CHARACTER, NUMBER, World, type WorldOptions } from "./application.ts";

/** 26 characters: 1,300 ms. */
export const INTRODUCTION = "This is an automated call.";
export const QUESTION = "Press 1 for yes, 2 for no.";
export const SCRIPT: readonly string[] = [
  `Ask visit: ${QUESTION}`,
  "If 1: say: Good.",
  "If 2 or tone 440: say: A pity.",
];

/** Duration of a spoken text, ms. */
export const ms = (text: string): number => text.length * MS_PER_CHARACTER;

/** An agent call, and the callee's phone. */
export interface Scene {
  readonly world: World;
  readonly call: Call;
  readonly leg: ScriptedLeg;
}

export async function ringing(instructions: readonly string[] = SCRIPT, options: WorldOptions = {}): Promise<Scene> {
  const world = await World.start({ agent: scriptedAgent(), ...options });
  const call = await agentCall(world, instructions);
  const leg = world.leg(call);
  leg.placed();
  await world.system.settle();
  return { world, call, leg };
}

export async function agentCall(world: World, instructions: readonly string[], options: object = {}): Promise<Call> {
  const { id: instanceId } = await world.activeInstance();
  const call = await world.app.calls.create(ALICE, {
    instanceId,
    type: "DYNAMIC_AGENT",
    target: { phoneNumber: NUMBER },
    agent: { instructions: [...instructions], ...options },
  });
  await world.system.settle();
  return call;
}

export async function talkingScene(...options: Parameters<typeof ringing>): Promise<Scene> {
  const scene = await ringing(...options);
  scene.leg.answer();
  await scene.world.system.settle();
  return scene;
}

/** The stored transcript's lines, each with its speaker. */
export async function lines({ world, call }: Scene): Promise<string[]> {
  const transcripts = await world.app.calls.transcripts(ALICE, [call]);
  return (transcripts.get(call.id) ?? []).map(({ speaker, text }) => `${speaker}: ${text}`);
}

/** Duration of sound between two times, ms. */
export function soundMs({ leg }: Scene, fromMs: number, toMs = Number.POSITIVE_INFINITY): number {
  const part = leg.heard.subarray(msToSamples(fromMs, leg.sampleRate), msToSamples(toMs, leg.sampleRate));
  return (part.filter((sample) => sample !== 0).length * 1_000) / leg.sampleRate;
}

/**
 * Two simultaneous tones, which the voice detector classifies as speech, not as a beep; the measuring engine
 * transcribes them as "tone 440".
 */
export function voice(length: number, { sampleRate }: ScriptedLeg): Int16Array {
  const other = tone(1_130, length, sampleRate, 3_500);
  return tone(440, length, sampleRate, 6_000).map((sample, at) => sample + other[at]!);
}

/** An agent controlled by the test. */
export function puppet(
  reply: (input: ConversationInput, signal: AbortSignal) => AsyncIterable<ConversationAction>,
): Agent {
  return { name: "puppet", check() {}, begin: () => ({ reply }), async close() {} };
}
