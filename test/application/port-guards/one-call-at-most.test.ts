import { describe, expect, test } from "vitest";
import { scriptedAgent } from "../../../adapters/agent/scripted/scripted-agent.ts";
import { Vad } from "../../../src/audio/voice/vad.ts";
import { isActive } from "../../../src/domain/calls/call.ts";
import type { CreateCallInput } from "../../../src/domain/calls/call-input.ts";
import type { Agent } from "../../../src/ports/conversation.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";
import { type ScriptedLeg, ScriptedTelephony } from "../../../src/testing/scripted-telephony.ts";
import { babble } from "../../audio/noise.ts";
import { ALICE, audioFile, BOB, decoder, NUMBER, ToneSpeech, World } from "../../support/application.ts";
import { MeasuringTranscription } from "../../support/measuring-transcription.ts";
import { MemoryRecordings } from "../../support/memory-recordings.ts";
import { ScriptedEndpoints } from "../../support/scripted-endpoints.ts";
import { type Breakage, FAULTS, makeFragile } from "./fragile.ts";

/** Every method of a port that the core calls for a call. */
const METHODS = [
  ...["speech.voices", "speech.voice", "speech.speak", "speech.warmUp"],
  ...["decoder.inspect", "decoder.decode"],
  ...["recordings.record", "writer.write", "writer.finish"],
  ...["transcription.open", "session.push", "session.commit", "session.close"],
  ...["agent.check", "agent.begin", "conversation.reply", "conversation.heard", "conversation.report"],
  ...["telephony.open", "telephony.refuses"],
  ...["line.link", "line.probe", "line.dial"],
  ...["leg.connectMedia", "leg.progress", "leg.statistics", "leg.evidence", "leg.sendDtmf", "leg.hangUp"],
  ...["detector.push", "voiceActivity.create", "webhooks.post"],
];
/** Called only for the first line. */
const CALLED_ONCE = "speech.warmUp";
const TEXT = "x".repeat(200); // 10 s
const SILENT_NUMBER = "+12025550111";
const RING_MS = 30_000;
const CASES = METHODS.flatMap((method) => FAULTS.map((fault) => [method, fault] as const));

const SPEECH = babble(1_500, 8_000, 3_000, 5);

/** Optional parts of a leg. */
const OPTIONAL_OF_LEGS = {
  sendDtmf: async () => {},
  progress: () => ({ reached: true, detail: null }),
  evidence: () => ({ kind: "inbound", required: false }),
};

/** An agent that follows a script, with all optional parts of a conversation. */
function reportingAgent(): Agent {
  const agent = scriptedAgent();
  const agentParts = { heard() {}, report: async () => ({}) };
  return { ...agent, begin: (brief) => Object.assign(agent.begin(brief), agentParts) };
}

async function fragileWorld(breakage: Breakage): Promise<World> {
  const system = new ManualSystem();
  const detectors = { create: (rate: number) => makeFragile(new Vad(rate), "detector", breakage) };
  const { create } = makeFragile(detectors, "voiceActivity", breakage);
  const network = new ScriptedTelephony(system);
  network.onDial = (leg) => {
    if (breakage.method !== undefined) Object.assign(leg, OPTIONAL_OF_LEGS);
  };
  return World.start({
    system,
    timings: { ringTimeoutMs: RING_MS },
    network: makeFragile(network, "telephony", breakage),
    speech: () => makeFragile(new ToneSpeech(), "speech", breakage),
    decoder: makeFragile(decoder, "decoder", breakage),
    recordings: makeFragile(new MemoryRecordings(), "recordings", breakage),
    transcription: makeFragile(new MeasuringTranscription(), "transcription", breakage),
    agent: makeFragile(reportingAgent(), "agent", breakage),
    voiceActivity: (rate) => create(rate),
    webhookSender: makeFragile(new ScriptedEndpoints(), "webhooks", breakage),
    webhooksAllowPrivate: true,
    streamPreview: true,
  });
}

/** Lets all callees answer and speak, except the one who lets the phone ring. */
function answerAll(world: World, answeredLegs: Set<ScriptedLeg>): void {
  for (const leg of world.network.legs) {
    if (answeredLegs.has(leg)) continue;
    answeredLegs.add(leg);
    leg.placed();
    if (leg.to === SILENT_NUMBER) continue;
    leg.answer();
    leg.say(SPEECH);
  }
}

describe("a faulty port method costs only the calls that need it", () => {
  test.for(CASES)("%s: %s", { timeout: 60_000 }, async ([method, fault]) => {
    const breakage: Breakage = { method: method === CALLED_ONCE ? method : undefined, fault, calls: 0 };
    const world = await fragileWorld(breakage);
    const { system, app } = world;
    if (method === "webhooks.post") await app.webhooks.create(BOB, { url: "https://example.com/hook" });
    const bystander = await world.answeredCall(await world.activeInstance(ALICE), TEXT);
    await system.advance(500);
    const answeredLegs = new Set([bystander.leg]);

    const instances = await Promise.all([1, 2, 3, 4].map(() => world.activeInstance(BOB)));
    breakage.method = method;
    const [spokenId, playedId, conductedId, ringingId] = instances.map(({ id }) => id) as [
      string,
      string,
      string,
      string,
    ];
    const target = { phoneNumber: NUMBER, extension: "1" };
    const agent = { instructions: ["Ask day: Press 1."], resultSchema: { type: "object" } };
    const creations: readonly CreateCallInput[] = [
      { instanceId: spokenId, type: "FIXED_TTS", target, tts: { text: "Hi", voiceId: "en-US-1" }, recording: true },
      { instanceId: playedId, type: "FIXED_AUDIO", target, audio: { audioBase64: audioFile(1) } },
      { instanceId: conductedId, type: "DYNAMIC_AGENT", target, agent },
      {
        instanceId: ringingId,
        type: "FIXED_AUDIO",
        target: { phoneNumber: SILENT_NUMBER },
        audio: { audioBase64: audioFile(1) },
      },
    ];
    void world.app.instances
      .create(BOB, { name: "New" })
      .then(({ id }) => world.app.instances.configure(BOB, id))
      .catch(() => {});
    for (const creation of creations) void app.calls.create(BOB, creation).catch(() => {}); // may be refused, or never end
    for (let second = 0; second < 40; second++) {
      answerAll(world, answeredLegs);
      if (second === 20) for (const leg of answeredLegs) leg.press("1");
      await system.advance(1_000);
    }
    expect(await world.storedCall(bystander.call)).toMatchObject({
      status: "COMPLETED",
      outcome: { reason: "message_played", heardRatio: 1 },
    });
    expect(bystander.leg.heard.filter((sample) => sample !== 0).length).toBeGreaterThan(9 * bystander.leg.sampleRate);

    breakage.method = undefined;
    expect(breakage.calls).toBeGreaterThan(0);
    const next = await world.answeredCall(await world.activeInstance(ALICE), "Hello again");
    answeredLegs.add(next.leg);
    await system.advance(5_000);
    expect(await world.storedCall(next.call)).toMatchObject({ outcome: { reason: "message_played", heardRatio: 1 } });
    const unfinishedCalls = async () =>
      (await world.storage.calls.list(BOB.userId, {}, { limit: 10 })).filter(({ status }) => isActive(status));
    for (let minute = 0; minute < 12 && (await unfinishedCalls()).length > 0; minute++) {
      answerAll(world, answeredLegs);
      await system.advance(60_000);
    }
    expect(await unfinishedCalls()).toEqual([]);
    await world.stop();
  });
});
