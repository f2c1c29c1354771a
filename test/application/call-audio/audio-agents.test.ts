import { describe, expect, test } from "vitest";
// Loaded up front: the core imports it for the first such call, and a manual clock does not wait for imports.
import "../../../src/application/call-audio/agents/audio-agent-call.ts";
import { encodeAlaw, encodeMulaw } from "../../../src/audio/samples/g711-companding.ts";
import { msToSamples, pcmToBytes } from "../../../src/audio/samples/pcm.ts";
import { DtmfDetector } from "../../../src/audio/tones/dtmf.ts";
import { tone, toneShare } from "../../../src/audio/tones/tone.ts";
import { wavHeader } from "../../../src/audio/wav/wav-header.ts";
import type { Call } from "../../../src/domain/calls/call.ts";
import type { AudioAgent, HeardItem } from "../../../src/ports/audio-conversation.ts";
import { AgentUnavailable } from "../../../src/ports/conversation.ts";
import type { ScriptedLeg } from "../../../src/testing/scripted-telephony.ts";
import { ALICE, MS_PER_CHARACTER, World, type WorldOptions } from "../../support/application.ts";
import { type Puppet, puppets } from "../../support/audio-puppet.ts";
import { MeasuringTranscription } from "../../support/measuring-transcription.ts";

interface Scene {
  readonly world: World;
  readonly call: Call;
  readonly leg: ScriptedLeg;
  readonly puppet: Puppet;
}

async function dialCall(agent: AudioAgent, options: WorldOptions = {}): Promise<{ world: World; call: Call }> {
  const world = await World.start({ agent, ...options });
  return { world, call: await world.agentCall({ instructions: ["Ask for the date."] }) };
}

async function startConversation({
  codec,
  ...options
}: WorldOptions & { readonly codec?: string } = {}): Promise<Scene> {
  const { agent, conversations } = puppets(options.transcription ? { transcribes: false } : {});
  const { world, call } = await dialCall(agent, options);
  await world.system.settle();
  const leg = world.leg(call);
  if (codec !== undefined) leg.codec = codec;
  leg.placed();
  leg.answer();
  await world.system.settle();
  return { world, call, leg, puppet: conversations[0]! };
}

async function lines({ world, call }: Scene): Promise<string[]> {
  const transcripts = await world.app.calls.transcripts(ALICE, [call]);
  return (transcripts.get(call.id) ?? []).map(({ speaker, text }) => `${speaker}: ${text}`);
}

function soundMs({ leg }: Scene, fromMs: number, toMs = Number.POSITIVE_INFINITY): number {
  const samples = leg.heard.subarray(msToSamples(fromMs, leg.sampleRate), msToSamples(toMs, leg.sampleRate));
  return (samples.filter((sample) => Math.abs(sample) > 50).length * 1_000) / leg.sampleRate;
}

/** Two tones at once: speech to the voice detector, but not a beep. */
function voice(length: number, { sampleRate }: ScriptedLeg): Int16Array {
  const overtone = tone(1_130, length, sampleRate, 3_500);
  return tone(440, length, sampleRate, 6_000).map((sample, at) => sample + overtone[at]!);
}

const heardItems = (reports: readonly unknown[]): readonly HeardItem[] =>
  reports.filter((report): report is HeardItem[] => Array.isArray(report)).flat();

describe("a call with an audio agent", () => {
  test("is opened before the dial, and starts on answer", async () => {
    const { agent, conversations } = puppets();
    const { world, call } = await dialCall(agent);
    expect(conversations.map(({ brief }) => [brief.callId, brief.instructions])).toEqual([
      [call.id, ["Ask for the date."]],
    ]);
    const leg = world.leg(call);
    leg.placed();
    await world.system.advance(3_000);
    expect(conversations[0]!.reports).toEqual([]);
    leg.answer();
    await world.system.advance(100);
    expect(conversations[0]!.reports).toEqual(["answered pcm"]);
    expect(await world.eventTypes(call)).toEqual(["queued", "ringing", "answered", "agent_started"]);
    await world.stop();
  });

  test("plays early audio at the leg's pace, and stores its words", async () => {
    const scene = await startConversation();
    const { world, leg, puppet } = scene;
    puppet.emit({ type: "reply", to: "begin" });
    puppet.speak("a", 1_500, "Good morning.");
    puppet.speak("b", 500, "How are you?", 880);
    await world.system.advance(1_000);
    expect(Math.abs(soundMs(scene, 0) - 960)).toBeLessThan(80);
    expect(await lines(scene)).toEqual([]);
    await world.system.advance(1_500);
    expect(Math.abs(soundMs(scene, 0) - 2_000 * 0.97)).toBeLessThan(80);
    const at = msToSamples(1_600, 8_000);
    expect(toneShare(leg.heard.subarray(at, at + 2_000), 880, 8_000)).toBeGreaterThan(0.95);
    expect(await lines(scene)).toEqual(["caller: Good morning.", "caller: How are you?"]);
    await world.stop();
  });

  test.for([
    ["PCMU", "pcmu"],
    ["PCMA", "pcma"],
  ] as const)("passes the audio of a %s leg through, bit for bit in both directions", async ([codec, format]) => {
    const { world, leg, puppet } = await startConversation({ codec });
    const code = format === "pcmu" ? encodeMulaw : encodeAlaw;
    const bytes = Uint8Array.from({ length: 256 * 20 }, (_, at) => (at * 7) & 0xff);
    puppet.emit({ type: "reply", to: "begin" }, { type: "audio", item: "a", bytes });
    await world.system.advance(1_000);
    const voiceSamples = voice(400, leg);
    leg.say(voiceSamples);
    await world.system.advance(600);
    expect(puppet.format).toBe(format);
    // Mu-law has two codes for zero, which sound the same.
    const normalized = (encoded: Uint8Array) =>
      encoded.map((byte) => (format === "pcmu" && byte === 0x7f ? 0xff : byte));
    const sentBytes = code(leg.heard);
    const start = sentBytes.findIndex((_, at) =>
      normalized(bytes.subarray(0, 50)).every((byte, i) => sentBytes[at + i] === byte),
    );
    expect(start).toBeGreaterThanOrEqual(0);
    expect(Buffer.compare(sentBytes.subarray(start, start + bytes.length), normalized(bytes))).toBe(0);
    const heard = Buffer.concat(puppet.heard);
    expect(heard.includes(Buffer.from(code(voiceSamples)))).toBe(true);
    await world.stop();
  });

  test("passes 16 kHz audio to the agent as 24 kHz samples", async () => {
    const { world, leg, puppet } = await startConversation({ sampleRate: 16_000, codec: "PCMU" });
    leg.say(tone(600, 500, 16_000, 8_000));
    await world.system.advance(1_000);
    expect(puppet.format).toBe("pcm");
    const bytes = new Uint8Array(Buffer.concat(puppet.heard));
    const samples = new Int16Array(bytes.buffer, 0, bytes.length >> 1);
    expect(samples.length / 24).toBeGreaterThan(900);
    const firstLoud = samples.findIndex((sample) => Math.abs(sample) > 4_000);
    expect(toneShare(samples.subarray(firstLoud, firstLoud + 10_000), 600, 24_000)).toBeGreaterThan(0.95);
    await world.stop();
  });

  test("stops at once if the agent notices speech, and reports the audio heard", async () => {
    const scene = await startConversation();
    const { world, puppet } = scene;
    puppet.emit({ type: "reply", to: "begin" });
    puppet.speak("a", 300, "Hello.");
    puppet.speak("b", 4_000, "one two three four five six seven eight");
    puppet.speak("c", 1_000, "And more.");
    await world.system.advance(2_300);
    puppet.emit({ type: "speech_started" });
    // Late audio from a cut item is not played.
    puppet.emit({ type: "audio", item: "b", bytes: pcmToBytes(tone(440, 500, 24_000, 8_000)) });
    await world.system.advance(2_000);
    const heard = heardItems(puppet.reports);
    expect(heard.map(({ item }) => item)).toEqual(["b", "c"]);
    expect(Math.abs(heard[0]!.heardMs - 2_000)).toBeLessThanOrEqual(60);
    expect(heard[1]).toMatchObject({ heardMs: 0, text: "" });
    expect(Math.abs(soundMs(scene, 0) - 0.97 * (300 + heard[0]!.heardMs))).toBeLessThan(60);
    const [, second, ...others] = await lines(scene);
    expect(second).toMatch(/^caller: one two three/);
    expect(second).not.toContain("six");
    expect(others).toEqual([]);
    await world.stop();
  });

  test("falls silent 200 ms after the callee starts to speak, and waits for the agent's verdict", async () => {
    const scene = await startConversation();
    const { world, leg, puppet } = scene;
    puppet.emit({ type: "reply", to: "begin" });
    puppet.speak("a", 5_000, "A long sentence.");
    await world.system.advance(1_000);
    leg.say(voice(600, leg));
    await world.system.advance(600);
    expect(Math.abs(soundMs(scene, 1_000) - 200)).toBeLessThan(80);
    expect(heardItems(puppet.reports)).toEqual([]);
    puppet.emit({ type: "speech_started" });
    await world.system.advance(100);
    expect(Math.abs(heardItems(puppet.reports)[0]!.heardMs - 1_200)).toBeLessThan(80);
    await world.stop();
  });

  test("resumes after a sound that the agent does not report as speech", async () => {
    const scene = await startConversation();
    const { world, leg, puppet } = scene;
    puppet.emit({ type: "reply", to: "begin" });
    puppet.speak("a", 3_000, "A long sentence.");
    await world.system.advance(1_000);
    leg.say(voice(400, leg));
    await world.system.advance(6_000);
    expect(Math.abs(soundMs(scene, 0) - 0.97 * 3_000)).toBeLessThan(90);
    expect(heardItems(puppet.reports)).toEqual([]);
    expect(await lines(scene)).toEqual(["caller: A long sentence."]);
    await world.stop();
  });

  test("does not play the rest of a reply when another one starts", async () => {
    const scene = await startConversation();
    const { world, leg, puppet } = scene;
    puppet.emit({ type: "reply", to: "begin" });
    puppet.speak("a", 5_000);
    await world.system.advance(500);
    puppet.emit({ type: "reply", to: "words" });
    puppet.speak("b", 500, "", 880);
    await world.system.advance(2_000);
    expect(heardItems(puppet.reports).map(({ item }) => item)).toEqual(["a"]);
    expect(Math.abs(soundMs(scene, 0) - 0.97 * 1_000)).toBeLessThan(80);
    const at = msToSamples(650, 8_000);
    expect(toneShare(leg.heard.subarray(at, at + 2_000), 880, 8_000)).toBeGreaterThan(0.9);
    await world.stop();
  });

  test.for([
    ["a JSON error", new TextEncoder().encode(`{"error":"${"overloaded ".repeat(20)}"}`), /text \(JSON\).*overloaded/],
    ["a WAV file", wavHeader({ sampleRate: 24_000 }), /WAV/],
  ] as const)("fails without playing audio if the agent sends %s as samples", async ([, bytes, detail]) => {
    const scene = await startConversation();
    const { world, call, puppet } = scene;
    puppet.emit({ type: "reply", to: "begin" }, { type: "audio", item: "a", bytes }, { type: "item_end", item: "a" });
    await world.system.advance(2_000);
    expect((await world.storedCall(call)).outcome).toMatchObject({
      reason: "agent_failed",
      detail: expect.stringMatching(detail),
    });
    expect(soundMs(scene, 0)).toBe(0);
    await world.stop();
  });

  test("fails if the agent runs minutes ahead", async () => {
    const { world, call, puppet } = await startConversation({ codec: "PCMU" });
    puppet.emit({ type: "reply", to: "begin" });
    for (let i = 0; i < 320; i++) puppet.emit({ type: "audio", item: "a", bytes: new Uint8Array(8_000) });
    await world.system.advance(1_000);
    expect(await world.storedCall(call)).toMatchObject({
      status: "FAILED",
      outcome: { reason: "agent_failed", detail: "the agent sent more than 300 s of audio ahead" },
    });
    expect(puppet.signal.aborted).toBe(true);
    await world.stop();
  });

  test("hangs up when the goodbye has been heard", async () => {
    const scene = await startConversation();
    const { world, call, puppet } = scene;
    puppet.emit({ type: "reply", to: "begin" });
    puppet.speak("a", 2_000, "Goodbye.");
    puppet.emit({ type: "hang_up" });
    await world.system.advance(1_800);
    expect((await world.storedCall(call)).status).toBe("IN_PROGRESS");
    // The callee's own goodbye does not cut the agent's short.
    puppet.emit({ type: "speech_started" });
    await world.system.advance(1_500);
    expect(await world.storedCall(call)).toMatchObject({ status: "COMPLETED", outcome: { reason: "agent_finished" } });
    expect(Math.abs(soundMs(scene, 0) - 0.97 * 2_000)).toBeLessThan(80);
    expect(await lines(scene)).toEqual(["caller: Goodbye."]);
    expect(puppet.signal.aborted).toBe(true);
    await world.stop();
  });

  test("stops speaking at a key, and passes it to the agent", async () => {
    const scene = await startConversation();
    const { world, leg, puppet } = scene;
    puppet.emit({ type: "reply", to: "begin" });
    puppet.speak("a", 3_000, "Press one.");
    await world.system.advance(500);
    leg.press("1");
    await world.system.advance(1_000);
    expect(puppet.reports.at(-1)).toBe("key 1");
    expect(heardItems(puppet.reports)).toHaveLength(1);
    expect(soundMs(scene, 0)).toBeLessThan(600);
    await world.stop();
  });

  test("notices silence only after the last word", async () => {
    const { world, leg, puppet } = await startConversation();
    puppet.emit({ type: "reply", to: "begin" });
    puppet.speak("a", 2_000);
    puppet.emit({ type: "listen", forMs: 5_000 });
    await world.system.advance(6_900);
    expect(puppet.reports).not.toContain("silence");
    leg.say(voice(500, leg));
    await world.system.advance(5_000);
    expect(puppet.reports).not.toContain("silence");
    await world.system.advance(1_000);
    expect(puppet.reports.filter((report) => report === "silence")).toHaveLength(1);
    await world.stop();
  });

  test("sends keys, as tones if the network has no better method", async () => {
    const { world, leg, puppet } = await startConversation();
    puppet.emit({ type: "press", keys: "12#" });
    await world.system.advance(1_000);
    let keys = "";
    const detector = new DtmfDetector(8_000, (digit) => {
      keys += digit;
    });
    for (let at = 0; at < leg.heard.length; at += 160) detector.push(leg.heard.subarray(at, at + 160));
    expect(keys).toBe("12#");
    await world.stop();
  });

  test("keeps the callee's words with their times", async () => {
    const scene = await startConversation();
    const { world, call, puppet } = scene;
    await world.system.advance(2_000);
    puppet.emit({ type: "callee_words", text: " Tomorrow. ", startMs: 400, endMs: 1_200 });
    await world.system.advance(100);
    const [line] = (await world.app.calls.transcripts(ALICE, [call])).get(call.id) ?? [];
    expect(line).toMatchObject({ speaker: "callee", text: "Tomorrow." });
    expect(Math.abs(line!.startMs - 400)).toBeLessThanOrEqual(40);
    expect(Math.abs(line!.endMs - 1_200)).toBeLessThanOrEqual(40);
    await world.stop();
  });

  test("uses the server's transcription if the agent reports no words", async () => {
    const scene = await startConversation({ transcription: new MeasuringTranscription() });
    const { world, leg } = scene;
    await world.system.advance(1_000);
    leg.say(voice(800, leg));
    await world.system.advance(4_000);
    expect(await lines(scene)).toEqual(["callee: tone 440"]);
    await world.stop();
  });

  test("measures its turns", async () => {
    const { world, call, leg, puppet } = await startConversation();
    puppet.emit({ type: "reply", to: "begin" });
    puppet.speak("a", 4_000, "A long sentence.");
    await world.system.advance(500);
    leg.say(voice(800, leg));
    await world.system.advance(200);
    puppet.emit({ type: "speech_started" });
    await world.system.advance(1_300);
    puppet.emit({ type: "speech_stopped" }, { type: "reply", to: "words" });
    await world.system.advance(300);
    puppet.speak("b", 500);
    await world.system.advance(1_000);
    leg.end("callee_hung_up");
    await world.system.advance(1_500);
    const [first, second, ...others] = (await world.storedCall(call)).turns ?? [];
    expect(first).toMatchObject({ input: "begin", interrupted: true, ttsTtfbMs: null, llmTtftMs: 0 });
    expect(first?.interruptLatencyMs).toBeLessThanOrEqual(240);
    expect(second).toMatchObject({ input: "words", interrupted: false, llmTtftMs: 300 });
    expect(Math.abs((second?.turnGapMs ?? 0) - 1_000)).toBeLessThanOrEqual(60);
    expect(others).toEqual([]);
    await world.stop();
  });

  test("reports an impossible transfer, after the words before it", async () => {
    const { world, puppet } = await startConversation();
    puppet.emit({ type: "reply", to: "begin" });
    puppet.speak("a", 500, "One moment.");
    puppet.emit({ type: "transfer", to: "+12025550123" });
    await world.system.advance(400);
    expect(puppet.reports).toEqual(["answered pcm"]);
    await world.system.advance(500);
    expect(puppet.reports.at(-1)).toBe('not transferred: "scripted" cannot transfer calls');
    await world.stop();
  });

  test("asks for a goodbye after a transfer that fails when the call is about to end", async () => {
    const { world, leg, puppet } = await startConversation({
      capabilities: { transfers: true },
      timings: { maxDurationMs: 60_000 },
    });
    puppet.emit({ type: "transfer", to: "+12025550123" });
    await world.system.advance(52_000);
    expect(leg.transfers).toEqual(["+12025550123"]);
    expect(puppet.reports).toEqual(["answered pcm"]);
    leg.transferred({ type: "failed", detail: "SIP 480" });
    await world.system.advance(500);
    expect(puppet.reports.slice(1)).toEqual(["not transferred: SIP 480", [], "ending"]);
    await world.stop();
  });

  test("asks the agent for a goodbye before the maximum duration ends", async () => {
    const scene = await startConversation({ timings: { maxDurationMs: 60_000 } });
    const { world, call, puppet } = scene;
    await world.system.advance(49_500);
    expect(puppet.reports).not.toContain("ending");
    await world.system.advance(1_000);
    expect(puppet.reports.at(-1)).toBe("ending");
    puppet.speak("a", 1_000, "Goodbye.");
    puppet.emit({ type: "hang_up" });
    await world.system.advance(2_500);
    expect((await world.storedCall(call)).outcome?.reason).toBe("max_duration");
    expect(await lines(scene)).toEqual(["caller: Goodbye."]);
    await world.stop();
  });

  test("apologises through the speech engine, then fails with the agent's reason", async () => {
    const scene = await startConversation();
    const { world, call, puppet } = scene;
    puppet.emit({ type: "reply", to: "begin" });
    puppet.speak("a", 500, "Well", 880);
    puppet.emit({ type: "say", text: "I am sorry." }, { type: "fail", detail: "the model is gone" });
    const apologyMs = "I am sorry.".length * MS_PER_CHARACTER;
    await world.system.advance(500 + apologyMs - 100);
    expect((await world.storedCall(call)).status).toBe("IN_PROGRESS");
    await world.system.advance(1_000);
    expect((await world.storedCall(call)).outcome).toMatchObject({
      reason: "agent_failed",
      detail: "the model is gone",
    });
    expect(await lines(scene)).toEqual(["caller: Well", "caller: I am sorry."]);
    await world.stop();
  });

  test("fails without an apology if no voice works", async () => {
    const { agent, conversations } = puppets();
    const world = await World.start({ agent });
    world.speech.voices = async () => [];
    const { call } = await world.answeredAgentCall({ instructions: ["x"], language: "fi" });
    expect(conversations[0]!.brief.language).toBe("fi");
    conversations[0]!.emit({ type: "say", text: "I am sorry." }, { type: "fail", detail: "the model is gone" });
    await world.system.advance(1_000);
    expect((await world.storedCall(call)).outcome).toMatchObject({
      reason: "agent_failed",
      detail: "the model is gone",
    });
    await world.stop();
  });

  test("fails if the conversation breaks off, even before the answer", async () => {
    const { agent, conversations } = puppets();
    const { world, call } = await dialCall(agent);
    world.leg(call).placed();
    await world.system.settle();
    conversations[0]!.events.fail(new Error("the connection broke"));
    await world.system.advance(1_000);
    expect((await world.storedCall(call)).outcome).toMatchObject({
      reason: "agent_failed",
      detail: "the connection broke",
    });
    await world.stop();
    expect(world.system.waiting).toBe(0);
  });
});

describe("an audio agent that cannot conduct a call", () => {
  test("fails the call before the dial", async () => {
    const { agent } = puppets({
      open: async () => {
        throw new AgentUnavailable("the server answered 401 (check the key: RINGPORT_AGENT_KEY)");
      },
    });
    const { world, call } = await dialCall(agent);
    expect(await world.storedCall(call)).toMatchObject({
      status: "FAILED",
      outcome: { reason: "agent_unavailable", detail: expect.stringContaining("RINGPORT_AGENT_KEY") },
    });
    expect(world.network.legs).toEqual([]);
    await world.stop();
  });

  test("does not dial a call that was ended while its conversation opened", async () => {
    let isAborted = false;
    const { agent } = puppets({
      open: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            isAborted = true;
            reject(signal.reason);
          });
        }),
    });
    const { world, call } = await dialCall(agent);
    await world.app.calls.hangUp(ALICE, call.id);
    await world.system.advance(1_000);
    expect(isAborted).toBe(true);
    expect(world.network.legs).toEqual([]);
    expect((await world.storedCall(call)).status).not.toBe("IN_PROGRESS");
    await world.stop();
  });
});
