import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CallTaps } from "../../../src/application/call-audio/call-tap.ts";
import { concatPcm } from "../../../src/audio/samples/pcm.ts";
import { dtmfTones } from "../../../src/audio/tones/dtmf.ts";
import { tone, toneShare } from "../../../src/audio/tones/tone.ts";
import { Vad } from "../../../src/audio/voice/vad.ts";
import type { Call } from "../../../src/domain/calls/call.ts";
import { babble } from "../../audio/noise.ts";
import { puppet, soundMs, talkingScene, voice } from "../../support/agent-calls.ts";
import { ALICE, MS_PER_CHARACTER, NUMBER, World, type WorldOptions } from "../../support/application.ts";
import { MeasuringTranscription } from "../../support/measuring-transcription.ts";
import { answeredStream, RecordingClient } from "../../support/recording-client.ts";

/** The samples from the first to the last non-silent one. */
const trimSilence = (samples: Int16Array): Int16Array =>
  samples.subarray(
    samples.findIndex((sample) => sample !== 0),
    samples.findLastIndex((sample) => sample !== 0) + 1,
  );

async function answeredScene(options: WorldOptions, text: string) {
  const world = await World.start(options);
  const { id: instanceId } = await world.activeInstance();
  const call: Call = await world.app.calls.create(ALICE, {
    instanceId,
    type: "FIXED_TTS",
    target: { phoneNumber: NUMBER },
    tts: { text, voiceId: "en-US-1" },
    recording: true,
  });
  await world.system.settle();
  const leg = world.leg(call);
  leg.placed();
  leg.answer();
  await world.system.settle();
  return { world, call, leg };
}

describe.each([
  [20, 8_000],
  [20, 16_000],
  [60, 8_000],
  [60, 16_000],
  [30, 8_000],
])("a leg with frames of %i ms at %i Hz", (frameMs, sampleRate) => {
  const start = { frameMs, sampleRate };

  test("plays the entire message and counts it exactly", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 60 }), async (characters) => {
        const { world, call, leg } = await answeredScene(start, "x".repeat(characters));
        await world.system.advance(characters * MS_PER_CHARACTER + 5_000);
        const messageMs = characters * MS_PER_CHARACTER;
        const { outcome } = await world.storedCall(call);
        expect(outcome).toMatchObject({ reason: "message_played", heardMs: messageMs, heardRatio: 1 });
        const heard = trimSilence(leg.heard);
        expect(Math.abs(heard.length - (messageMs * sampleRate) / 1_000)).toBeLessThanOrEqual(4);
        expect(toneShare(heard, 440, sampleRate)).toBeGreaterThan(0.95);
        await world.stop();
      }),
      { numRuns: 15 },
    );
  });

  test("counts a message's heard audio up to the frame in which the callee hangs up", async () => {
    const { world, call, leg } = await answeredScene(start, "x".repeat(100));
    await world.system.advance(1_000);
    leg.end("callee_hung_up");
    await world.system.settle();
    const frames = Math.floor(1_000 / frameMs) + 1;
    expect((await world.storedCall(call)).outcome?.heardMs).toBe(Math.min(frames * frameMs, 1_000));
    await world.stop();
  });

  test("is recorded sample by sample, both sides in step", async () => {
    const { world, call, leg } = await answeredScene(start, "x".repeat(60));
    await world.system.advance(6 * frameMs);
    const words = tone(880, 600, sampleRate, 8_000);
    leg.say(words);
    await world.system.advance(10_000);
    const { heard, spoken } = world.recordings.stored.get(call.id)!;
    const left = Int16Array.from(heard);
    const right = Int16Array.from(spoken);
    expect(left).toEqual(leg.heard.subarray(0, left.length));
    expect(right.length).toBe(left.length);
    const at = right.findIndex((sample) => sample !== 0) - 1;
    expect(at).toBe((7 * frameMs * sampleRate) / 1_000);
    expect(right.subarray(at, at + words.length)).toEqual(words);
    expect(toneShare(left.subarray(at, at + words.length), 440, sampleRate)).toBeGreaterThan(0.95);
    await world.stop();
  });

  test("forwards keys heard as tones, as often as they were pressed", async () => {
    const { world, call, leg } = await answeredScene({ ...start, capabilities: { dtmf: "in-band" } }, "x".repeat(100));
    await world.system.advance(500);
    leg.say(dtmfTones("1122#", { sampleRate }));
    await world.system.advance(3_000);
    const keys = (await world.timeline(call)).flatMap((event) => (event.type === "dtmf" ? [event.data.digit] : []));
    expect(keys.join("")).toBe("1122#");
    expect(await world.eventTypes(call)).not.toContain("callee_speech");
    await world.stop();
  });

  test("times the callee's speech by the samples received", async () => {
    const { world, call, leg } = await answeredScene(start, "x".repeat(200));
    await world.system.advance(10 * frameMs);
    const words = babble(1_000, sampleRate, 3_000, 5);
    leg.say(words);
    await world.system.advance(3_000);
    const speech = (await world.timeline(call)).flatMap((event) =>
      event.type === "callee_speech" ? [event.data] : [],
    );
    expect(speech.length).toBeGreaterThan(0);
    expect(Math.abs(speech[0]!.start_ms - 11 * frameMs)).toBeLessThanOrEqual(120);
    expect(Math.abs(speech.at(-1)!.end_ms - 11 * frameMs - 1_000)).toBeLessThanOrEqual(120);
    await world.stop();
  });

  test("leaves the entire message after a beep", async () => {
    const world = await World.start(start);
    const { id: instanceId } = await world.activeInstance();
    const call = await world.app.calls.create(ALICE, {
      instanceId,
      type: "FIXED_TTS",
      target: { phoneNumber: NUMBER },
      tts: { text: "x".repeat(40), voiceId: "en-US-1" },
      onMachine: "leave_message",
    });
    await world.system.settle();
    const leg = world.leg(call);
    leg.placed();
    leg.answer();
    const beep = tone(1_000, 400, sampleRate, 9_000);
    leg.say(concatPcm([babble(9_000, sampleRate, 3_000, 5), new Int16Array(sampleRate / 2), beep]));
    await world.system.advance(20_000);
    const { outcome } = await world.storedCall(call);
    expect(outcome).toMatchObject({ reason: "message_played", answeredBy: "machine", heardMs: 2_000, heardRatio: 1 });
    const message = trimSilence(leg.heard.subarray(9.5 * sampleRate));
    expect(Math.abs(message.length - 2 * sampleRate)).toBeLessThanOrEqual(4);
    await world.stop();
  });

  test("measures silence for an agent by the samples played", async () => {
    const inputs: string[] = [];
    const agent = puppet(async function* (input) {
      inputs.push(input.type);
      if (input.type === "begin") yield { type: "listen", forMs: 3_000 };
      else yield { type: "hang_up" };
    });
    const scene = await talkingScene(["x"], { ...start, agent });
    await scene.world.system.advance(3_000 - 2 * frameMs);
    expect(inputs).toEqual(["begin"]);
    await scene.world.system.advance(3 * frameMs);
    expect(inputs).toEqual(["begin", "silence"]);
    await scene.world.stop();
  });

  test("passes a voice detector at most 20 ms at a time", async () => {
    const lengths = new Set<number>();
    const voiceActivity = (rate: number) => {
      const vad = new Vad(rate);
      return {
        push(samples: Int16Array) {
          lengths.add(samples.length);
          return vad.push(samples);
        },
      };
    };
    const { world } = await answeredScene({ ...start, voiceActivity }, "x".repeat(30));
    await world.system.advance(1_000);
    expect(Math.max(...lengths)).toBe(sampleRate / 50);
    await world.stop();
  });

  test("passes a stream's client 20 ms frames with marks at their samples", async () => {
    const world = await World.start({ ...start, streamPreview: true });
    const client = new RecordingClient(sampleRate);
    const { leg, attachment } = await answeredStream(world, client);
    const words = tone(600, 1_000, sampleRate, 9_000);
    leg.say(words);
    attachment.write(tone(440, 330, sampleRate, 9_000), sampleRate);
    attachment.mark("first");
    attachment.write(tone(660, 330, sampleRate, 9_000), sampleRate);
    attachment.mark("second");
    await world.system.advance(2_000);
    expect(client.frames.every((frame) => frame.length === sampleRate / 50)).toBe(true);
    const receivedMs = (Math.floor(2_000 / frameMs) + 1) * frameMs;
    // The leg's first frame is exchanged at the answer, perhaps before the client learns of it.
    expect(Math.abs(client.frames.length * 20 - receivedMs)).toBeLessThanOrEqual(frameMs);
    const startIndex = client.heard.findIndex((sample) => sample !== 0) - 1;
    expect(client.heard.subarray(startIndex, startIndex + words.length)).toEqual(words);
    expect(client.eventNames.filter((event) => event === "mark").length).toBe(2);
    const heard = leg.heard.subarray(leg.heard.findIndex((sample) => sample !== 0) - 1);
    const cutAt = (330 * sampleRate) / 1_000;
    expect(toneShare(heard.subarray(0, cutAt), 440, sampleRate)).toBeGreaterThan(0.99);
    expect(toneShare(heard.subarray(cutAt, 2 * cutAt), 660, sampleRate)).toBeGreaterThan(0.99);
    attachment.clear();
    expect(client.latestEvent("cleared")?.data).toEqual({ heard_ms: 660 });
    await world.stop();
  });

  test("passes listeners both sides in step", async () => {
    const { world, call, leg } = await answeredScene(start, "x".repeat(80));
    const listening = await world.app.calls.listen(ALICE, call.id);
    const pieces: Int16Array[] = [];
    const reading = (async () => {
      for await (const item of listening) if (item.type === "audio") pieces.push(item.samples.slice());
    })();
    await world.system.advance(6 * frameMs);
    leg.say(tone(880, 1_200, sampleRate, 8_000));
    await world.system.advance(2_400);
    leg.end("callee_hung_up");
    await world.system.settle();
    await reading;
    const joinedPcm = concatPcm(pieces);
    const side = (channel: 0 | 1) => joinedPcm.filter((_, i) => i % 2 === channel);
    expect(toneShare(trimSilence(side(0)), 880, sampleRate)).toBeGreaterThan(0.99);
    expect(toneShare(trimSilence(side(1)), 440, sampleRate)).toBeGreaterThan(0.95);
    expect(side(1).length).toBeGreaterThanOrEqual((2_300 * sampleRate) / 1_000);
    await world.stop();
  });

  test("lets the callee interrupt an agent after 200 ms of voice", async () => {
    const question = "Will you come tomorrow, or rather on another day of this week?";
    const agent = puppet(async function* (input) {
      if (input.type === "begin") yield { type: "say", text: question, interruptible: true };
      yield { type: "listen", forMs: 10_000 };
    });
    const scene = await talkingScene(["x"], { ...start, agent, transcription: new MeasuringTranscription() });
    const { world, leg } = scene;
    await world.system.advance(10 * frameMs);
    leg.say(voice(800, leg));
    await world.system.advance(1_000);
    expect(Math.abs(soundMs(scene, 0) - 11 * frameMs - 200)).toBeLessThanOrEqual(frameMs + 40);
    await world.stop();
  });
});

test("pieces of 20 ms add up to the callee's frames, whatever their lengths", () => {
  const frames = fc.array(fc.array(fc.integer({ min: -32_768, max: 32_767 }), { maxLength: 700 }), { maxLength: 10 });
  fc.assert(
    fc.property(frames, (inputFrames) => {
      const pieces: Int16Array[] = [];
      const taps = new CallTaps(8_000, [{ inbound: (piece) => void pieces.push(piece.slice()) }]);
      for (const samples of inputFrames) taps.write(Int16Array.from(samples));
      expect(Array.from(concatPcm(pieces))).toEqual(inputFrames.flat());
      expect(pieces.every(({ length }) => length <= 160)).toBe(true);
    }),
  );
});
