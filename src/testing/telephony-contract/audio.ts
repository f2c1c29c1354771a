import { samplesToMs } from "../../audio/samples/pcm.ts";
import { DtmfDetector } from "../../audio/tones/dtmf.ts";
import { tone, toneShare } from "../../audio/tones/tone.ts";
import { Vad } from "../../audio/voice/vad.ts";
import type { MediaStatistics } from "../../domain/calls/media-statistics.ts";
import { SAMPLE } from "../../ports/media.ts";
import { CountingSource, type FrameRecorder } from "../telephony-network.ts";
import type { ContractNumbers, Skip } from "./options.ts";
import { expectInOrder } from "./order.ts";
import type { TelephonyTheme } from "./theme.ts";

const TONE_HZ = 437; // no whole number of periods fits into a frame, so a lost or doubled frame breaks the tone
const TONE_MS = 600;
const TONE_AMPLITUDE = 8_000;

/** Tests of the audio in both directions, of keys and of statistics. */
export function audioContract({ test, expect, options }: TelephonyTheme): void {
  const { numbers, patienceMs } = options;

  test("audio flows from the answer to the end, in frames of the leg's length", async (network) => {
    const line = await network.linkedLine();
    const source = new CountingSource();
    const { leg, events, recorder } = await network.call(line, numbers.answers, source);
    await events.next("answered", patienceMs);
    await events.next("connected", patienceMs);
    expect(source.frames).toBeGreaterThanOrEqual(1);
    const before = source.frames;
    const start = performance.now();
    await network.sleep(500);
    // A busy machine makes frames late, never early, and a leg that follows the clock catches up.
    const dueFrames = (): number => (performance.now() - start) / leg.frameMs;
    await network.until(
      () => source.frames - before >= Math.floor(dueFrames() * 0.9) - 2,
      "frames at the pace of the clock",
    );
    expect(source.frames - before).toBeLessThanOrEqual(Math.ceil(dueFrames() * 1.1) + 2);
    if (network.subject.telephony.capabilities.inboundAudioCertain)
      await network.until(() => recorder.frames.length >= Math.floor(0.8 * source.frames) - 2, "inbound frames");
    await leg.hangUp();
    const [sentFrames, heardFrames] = [source.frames, recorder.frames.length];
    const samples = (leg.sampleRate * leg.frameMs) / 1000;
    expect([...source.lengths]).toEqual([samples]);
    for (const frame of recorder.frames) expect(frame.length).toBe(samples);
    for (const marks of recorder.marks) {
      expect(marks.length).toBe(samples);
      for (const mark of marks) expect(mark <= SAMPLE.afterPause).toBe(true);
    }
    await network.sleep(5 * leg.frameMs);
    expect([source.frames, recorder.frames.length]).toEqual([sentFrames, heardFrames]); // nothing after the end
    expect(source.readsBeforeAnswer).toBe(0);
  });

  test(
    "the callee receives what the source plays",
    async (network) => {
      const line = await network.linkedLine();
      const { leg, events, playout, callId } = await network.call(line, numbers.answers);
      const sentSamples = tone(TONE_HZ, TONE_MS, leg.sampleRate, TONE_AMPLITUDE);
      playout.enqueue(sentSamples);
      playout.silence(200);
      playout.end();
      await events.next("connected", patienceMs);
      await playout.whenDrained;
      await leg.hangUp();
      const heardSamples = await network.heard(callId);
      const isLoud = (sample: number): boolean => Math.abs(sample) > TONE_AMPLITUDE / 8;
      const toneSamples = heardSamples.subarray(heardSamples.findIndex(isLoud), heardSamples.findLastIndex(isLoud) + 1);
      const ms = samplesToMs(toneSamples.length, leg.sampleRate);
      expect(ms).toBeGreaterThanOrEqual(TONE_MS - 40);
      expect(ms).toBeLessThanOrEqual(TONE_MS + 40);
      // One tone over its whole length: a lost, doubled or displaced frame would shift its phase.
      expect(toneShare(toneSamples, TONE_HZ, leg.sampleRate)).toBeGreaterThanOrEqual(0.9);
      if (options.lossless) expect(heardSamples.subarray(0, sentSamples.length)).toEqual(sentSamples);
    },
    options.hearing,
  );

  test("media statistics are available immediately at any time, and count from the beginning", async (network) => {
    const line = await network.linkedLine();
    const { leg, events } = await network.call(line, numbers.answers);
    const readStatistics = (): MediaStatistics | null => leg.statistics?.() ?? null;
    readStatistics(); // before the answer too
    await events.next("connected", patienceMs);
    const counts: MediaStatistics[] = [];
    const countSent = (): number => {
      const statistics = readStatistics();
      if (statistics) counts.push(statistics);
      return statistics?.packetsSent ?? Number.POSITIVE_INFINITY; // not counted here
    };
    await network.until(() => countSent() >= 1, "a packet sent");
    const { packetsSent: first } = counts[0] ?? { packetsSent: 0 };
    await network.until(() => countSent() >= first + 10, "more packets sent");
    await leg.hangUp();
    await events.over;
    const finalStatistics = readStatistics();
    expect(finalStatistics === null).toBe(counts.length === 0);
    if (finalStatistics === null) return;
    for (const name of ["packetsSent", "packetsReceived", "heldMs"] as const) {
      const values = [...counts, finalStatistics].map((statistics) => statistics[name]);
      expect([name, ...values]).toEqual([name, ...[...values].sort((a, b) => a - b)]);
    }
    for (const value of Object.values(finalStatistics))
      if (typeof value === "number") expect(value).toBeGreaterThanOrEqual(0);
  });

  test("a source that throws ends only its own call, with internal_error", async (network) => {
    const line = await network.linkedLine();
    const other = await network.linkedLine();
    const otherCall = await network.call(other, numbers.answers);
    await otherCall.events.next("connected", patienceMs);
    const { events } = await network.call(line, numbers.answers, {
      read() {
        throw new Error("the program is broken");
      },
    });
    await events.next("ended", patienceMs);
    await events.over;
    expectInOrder(expect, events.types);
    expect(events.cause).toBe("internal_error");
    const frames = otherCall.recorder.frames.length;
    await network.until(() => otherCall.recorder.frames.length > frames, "audio of the other call");
    expect(otherCall.events.types.includes("ended")).toBe(false);
  });

  test(
    "the callee's speech arrives",
    async (network) => {
      const line = await network.linkedLine();
      const { leg, events, recorder } = await network.call(line, numbers.speaks as string);
      await events.next("connected", patienceMs);
      await network.until(() => {
        const vad = new Vad(leg.sampleRate);
        return recorder.frames.filter((frame) => vad.push(frame)).length * leg.frameMs >= 300;
      }, "speech");
    },
    numbers.speaks,
  );

  test(
    "pressed keys arrive as the capabilities declare",
    async (network) => {
      const { number, keys } = numbers.presses as Exclude<ContractNumbers["presses"], Skip>;
      const line = await network.linkedLine();
      const { leg, events, recorder } = await network.call(line, number);
      await events.next("connected", patienceMs);
      const isInBand = network.subject.telephony.capabilities.dtmf === "in-band";
      const keysSoFar = (): string => (isInBand ? receivedKeys(recorder, leg.sampleRate) : events.keys);
      await network.until(() => keysSoFar().length >= keys.length, "the keys", 500 * keys.length);
      await leg.hangUp();
      expect(keysSoFar()).toBe(keys);
      expect(events.types.includes("dtmf")).toBe(!isInBand);
    },
    numbers.presses,
  );

  test(
    "the callee hears the leg's keys",
    async (network) => {
      const line = await network.linkedLine();
      const { leg, events, callId } = await network.call(line, numbers.answers);
      await events.next("connected", patienceMs);
      await leg.sendDtmf?.("42#");
      await network.sleep(2 * leg.frameMs);
      await leg.hangUp();
      if (leg.sendDtmf === undefined || network.subject.telephony.capabilities.dtmf === "event") return;
      expect(keysIn(await network.heard(callId), leg.sampleRate)).toBe("42#");
    },
    options.hearing,
  );
}

function keysIn(samples: Int16Array, sampleRate: number): string {
  return receivedKeys({ frames: [samples], marks: [] }, sampleRate);
}

function receivedKeys({ frames, marks }: Pick<FrameRecorder, "frames" | "marks">, sampleRate: number): string {
  let keys = "";
  const detector = new DtmfDetector(sampleRate, (digit) => {
    keys += digit;
  });
  for (const [i, frame] of frames.entries()) detector.push(frame, marks[i]);
  return keys;
}
