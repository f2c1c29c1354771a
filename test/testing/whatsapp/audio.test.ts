import type { FakeNumber } from "ringport/testing";
import { describe, expect, test } from "vitest";
import { tone, toneShare } from "../../../src/audio/tones/tone.ts";
import { FakeNetwork, outcomeOf } from "../../support/whatsapp/fake-network.ts";

const RATE = 16_000;
const ANA = "+5511987654321";
const FRAME_SAMPLES = 960;

/** A call that has just become active, with external audio. */
async function activeCall(number: FakeNumber = {}) {
  const fake = new FakeNetwork();
  fake.network.number(ANA, number);
  const client = await fake.online();
  const { voip } = client;
  const startOutcome = outcomeOf(voip.startCall({ peerJid: "5511987654321@s.whatsapp.net" }));
  await fake.system.advance(25);
  const callId = startOutcome.value!;
  voip.setExternalAudioMode(callId, true);
  await fake.system.advance(1_125);
  expect(voip.getCall(callId)?.stateData.state).toBe("active");
  return { fake, client, voip, callId, call: fake.network.call(), startMs: fake.system.monotonic() };
}

/** `count` ascending samples that begin with `from`; none is silent. */
function ramp(count: number, from = 1): Float32Array {
  return Float32Array.from({ length: count }, (_, i) => (from + i) / 32_768);
}

function ascendingValues(count: number, from = 1): number[] {
  return Array.from({ length: count }, (_, i) => from + i);
}

describe("audio to the callee", () => {
  test("arrives in frames of 60 ms, one every 60 ms, silence included", async () => {
    const { fake, call, startMs } = await activeCall();
    await fake.system.advance(600);
    expect(call.frames.map(({ atMs }) => atMs - startMs)).toEqual([60, 120, 180, 240, 300, 360, 420, 480, 540, 600]);
    expect(
      call.frames.every(({ samples }) => samples.length === FRAME_SAMPLES && samples.every((sample) => sample === 0)),
    ).toBe(true);
  });

  test("arrives sample for sample if fed according to the watermarks", async () => {
    const { fake, voip, callId, call } = await activeCall();
    const { pauseMs, resumeMs } = voip.getFeedWatermarksMs();
    expect({ pauseMs, resumeMs }).toEqual({ pauseMs: 120, resumeMs: 60 });
    const frames = 20;
    for (let fedFrames = 0; fedFrames < frames; await fake.system.advance(20)) {
      if (voip.getLiveBufferMs(callId) > resumeMs) continue;
      while (fedFrames < frames)
        if (voip.feedLiveAudio(callId, ramp(FRAME_SAMPLES, 1 + FRAME_SAMPLES * fedFrames++)) >= pauseMs) break;
    }
    await fake.system.advance(200);
    const start = call.heard.findIndex((sample) => sample !== 0);
    const heard = call.heard.subarray(start, start + frames * FRAME_SAMPLES);
    expect(heard.findIndex((sample, i) => sample !== i + 1)).toBe(-1);
    expect(call.heard.subarray(start + frames * FRAME_SAMPLES).every((sample) => sample === 0)).toBe(true);
    expect(voip.lostSamples(callId)).toBe(0);
  });

  test("counts as buffered until it is sent", async () => {
    const { fake, voip, callId, call } = await activeCall();
    expect(voip.feedLiveAudio(callId, ramp(FRAME_SAMPLES))).toBe(60);
    expect(voip.feedLiveAudio(callId, ramp(FRAME_SAMPLES / 2, FRAME_SAMPLES + 1))).toBe(90);
    expect(voip.getLiveBufferMs(callId)).toBe(90);
    await fake.system.advance(60);
    expect(voip.getLiveBufferMs(callId)).toBe(30);
    await fake.system.advance(60);
    expect(voip.getLiveBufferMs(callId)).toBe(0);
    expect([...call.heard.subarray(0, 1.5 * FRAME_SAMPLES)]).toEqual(ascendingValues(1.5 * FRAME_SAMPLES));
    expect([...call.heard.subarray(1.5 * FRAME_SAMPLES)].every((sample) => sample === 0)).toBe(true);
  });

  test("waits for the first 60 ms before anything is sent", async () => {
    const { fake, voip, callId, call } = await activeCall();
    voip.feedLiveAudio(callId, ramp(FRAME_SAMPLES - 1));
    await fake.system.advance(120);
    expect(call.heard.every((sample) => sample === 0)).toBe(true);
    voip.feedLiveAudio(callId, ramp(1, FRAME_SAMPLES));
    await fake.system.advance(60);
    expect([...call.frames.at(-1)!.samples]).toEqual(ascendingValues(FRAME_SAMPLES));
    voip.feedLiveAudio(callId, ramp(10, 1)); // later audio has no such minimum
    await fake.system.advance(60);
    expect([...call.frames.at(-1)!.samples.subarray(0, 11)]).toEqual([...ascendingValues(10), 0]);
  });

  test("is lost before the call is active, except for the last 60 ms", async () => {
    const fake = new FakeNetwork();
    const { voip } = await fake.online();
    const startOutcome = outcomeOf(voip.startCall({ peerJid: "12025550100@s.whatsapp.net" }));
    await fake.system.advance(25);
    voip.setExternalAudioMode(startOutcome.value!, true);
    voip.feedLiveAudio(startOutcome.value!, ramp(2 * FRAME_SAMPLES));
    await fake.system.advance(2_000);
    const heard = [...fake.network.call().heard].filter((sample) => sample !== 0);
    expect(heard).toEqual(ascendingValues(FRAME_SAMPLES, FRAME_SAMPLES + 1));
    expect(voip.lostSamples(startOutcome.value!)).toBe(FRAME_SAMPLES);
  });

  test("skips ahead above 200 ms", async () => {
    const { fake, voip, callId, call } = await activeCall();
    voip.feedLiveAudio(callId, ramp(3_200));
    await fake.system.advance(60);
    expect([...call.heard]).toEqual(ascendingValues(FRAME_SAMPLES)); // 200 ms is the limit
    voip.feedLiveAudio(callId, ramp(961, 3_201));
    await fake.system.advance(60);
    expect([...call.frames.at(-1)!.samples]).toEqual(ascendingValues(FRAME_SAMPLES, 4_161 - FRAME_SAMPLES + 1));
    expect(voip.getLiveBufferMs(callId)).toBe(0);
  });

  test("drops the oldest samples above 500 ms", async () => {
    const { voip, callId } = await activeCall();
    expect(voip.feedLiveAudio(callId, ramp(8_000))).toBe(500);
    expect(voip.feedLiveAudio(callId, ramp(800))).toBe(500);
    expect(voip.lostSamples(callId)).toBe(800);
    expect(voip.feedLiveAudio(callId, new Float32Array(100_000))).toBe(500);
  });

  test("is refused without external mode, and for an unknown call", async () => {
    const { voip, callId } = await activeCall();
    voip.setExternalAudioMode(callId, false);
    expect(voip.feedLiveAudio(callId, ramp(FRAME_SAMPLES))).toBe(0);
    expect(voip.feedLiveAudio("unknown", ramp(FRAME_SAMPLES))).toBe(0);
    expect(voip.getLiveBufferMs("unknown")).toBe(0);
    expect(() => voip.setExternalAudioMode("unknown", true)).toThrow("No call with id unknown");
  });

  test("stops while muted", async () => {
    const { fake, voip, callId, call } = await activeCall();
    voip.setMute(callId, true);
    expect(voip.getCall(callId)?.stateData.audioMuted).toBe(true);
    await fake.system.advance(300);
    expect(call.frames).toEqual([]);
    voip.setMute(callId, false);
    await fake.system.advance(60);
    expect(call.frames).toHaveLength(1);
  });

  test("continues while the socket is down", async () => {
    const { fake, client, voip, callId, call } = await activeCall();
    client.dropSocket(Infinity);
    voip.feedLiveAudio(callId, ramp(FRAME_SAMPLES));
    await fake.system.advance(60);
    expect([...call.heard]).toEqual(ascendingValues(FRAME_SAMPLES));
  });

  test("ends with the call", async () => {
    const { fake, voip, callId, call } = await activeCall();
    void voip.endCall(callId);
    await fake.system.advance(1_000);
    expect(call.frames).toEqual([]);
    expect(fake.system.waiting).toBe(0);
  });

  test("is not sent in a burst after a stall", async () => {
    const { fake, call } = await activeCall();
    fake.system.stall(1_000);
    await fake.system.advance(120);
    expect(call.frames.length).toBeLessThanOrEqual(4);
  });
});

describe("audio from the callee", () => {
  test("arrives in frames of 60 ms once the relay is connected", async () => {
    const { fake, startMs } = await activeCall({ speaks: tone(440, 600, RATE, 10_000) });
    await fake.system.advance(900);
    const frames = fake.events.filter(({ event }) => event === "voip_call_inbound_audio");
    expect(frames.map(({ atMs }) => atMs - startMs).slice(0, 3)).toEqual([60, 120, 180]);
    expect(frames).toHaveLength(15); // silence arrives as frames, too
    const pcm = frames.flatMap(({ argument }) => [...(argument.pcm as Float32Array)]);
    const samples = Int16Array.from(pcm, (sample) => sample * 32_768);
    expect(toneShare(samples.subarray(0, 9_600), 440, RATE)).toBeGreaterThan(0.99);
    expect(samples.subarray(9_600).every((sample) => sample === 0)).toBe(true);
    expect(frames[0]!.argument.call).toMatchObject({ stateData: { state: "active" } });
  });

  test("repeats the sent audio one frame later on an echoing number", async () => {
    const { fake, voip, callId } = await activeCall({ echoes: true });
    voip.feedLiveAudio(callId, ramp(FRAME_SAMPLES));
    await fake.system.advance(300);
    const frames = fake.argumentsOf("voip_call_inbound_audio").map(({ pcm }) => Math.round(pcm[0] * 32_768));
    expect(frames.filter((first) => first !== 0)).toEqual([1]);
    expect(frames.indexOf(1)).toBe(1);
  });

  test("never arrives on a one-way call, and stops when it is cut off", async () => {
    const oneWayCall = await activeCall({ media: "one-way", speaks: tone(440, 600, RATE, 10_000) });
    await oneWayCall.fake.system.advance(5_000);
    expect(oneWayCall.fake.argumentsOf("voip_call_inbound_audio")).toEqual([]);
    expect(oneWayCall.call.frames.length).toBeGreaterThan(80);
    const cutCall = await activeCall();
    await cutCall.fake.system.advance(600);
    cutCall.call.sendsAudio = false;
    await cutCall.fake.system.advance(5_000);
    expect(cutCall.fake.argumentsOf("voip_call_inbound_audio")).toHaveLength(10);
  });

  test("can be supplied by the test", async () => {
    const { fake, call } = await activeCall();
    call.say(Int16Array.of(5, 6));
    call.say(Int16Array.of(7));
    await fake.system.advance(60);
    const [{ pcm }] = fake.argumentsOf("voip_call_inbound_audio");
    expect([...pcm.subarray(0, 4)].map((sample) => sample * 32_768)).toEqual([5, 6, 7, 0]);
  });
});
