import { expect, test } from "vitest";
import { espeakJob } from "../../../adapters/speech/espeak-job.ts";
import { fliteJob } from "../../../adapters/speech/flite-job.ts";
import { BargeIn } from "../../../src/application/call-audio/agents/barge-in.ts";
import { concatPcm } from "../../../src/audio/samples/pcm.ts";
import { resample } from "../../../src/audio/samples/resample.ts";
import { Vad } from "../../../src/audio/voice/vad.ts";
import type { PcmChunk } from "../../../src/ports/media.ts";
import { join, mix, noise, samplesOf, silence, withRms } from "../../support/answers/sounds.ts";
import { random } from "../../support/random.ts";

const RATE = 8_000;
const FRAME_SAMPLES = RATE / 50;
const WORDS = ["hello", "no", "excuse me", "one moment", "moon"];
const VOICES = [
  ["flite", "slt"],
  ["flite", "rms"],
  ["flite", "awb"],
  ["espeak", "gmw/en-US"],
  ["espeak", "gmw/en+f3"],
  ["espeak", "roa/pt-BR+m3"],
] as const;

/** True if an agent would stop for this sound, in a room with this noise. */
function interrupts(sound: Float64Array, room: Float64Array): boolean {
  const samples = samplesOf(mix(join(silence(3_000, RATE), sound, silence(300, RATE)), room));
  const vad = new Vad(RATE);
  let isInterrupted = false;
  const bargeIn = new BargeIn(RATE, {
    onSound: () => {},
    onBargeIn: () => (isInterrupted = true),
    onFalseAlarm: () => {},
  });
  for (let offset = 0; offset + FRAME_SAMPLES <= samples.length; offset += FRAME_SAMPLES) {
    const frame = samples.subarray(offset, offset + FRAME_SAMPLES);
    const isSpeaking = vad.push(frame);
    bargeIn.push(frame, isSpeaking, isSpeaking && vad.isVoiced);
  }
  return isInterrupted;
}

test.for(VOICES)("a voice of %s, %s, interrupts with each short word, even in a car", async ([engine, voice]) => {
  for (const text of WORDS) {
    const pieces: PcmChunk[] = [];
    const context = { emit: (piece: PcmChunk) => void pieces.push(piece), isCancelled: () => false };
    await (engine === "flite" ? fliteJob({ text, voice }, context) : espeakJob({ text, voice }, context));
    const samples = resample(concatPcm(pieces.map((piece) => piece.samples)), pieces[0]!.sampleRate, RATE);
    const word = withRms(Float64Array.from(samples), 3_000);
    const car = withRms(noise("car", 5_000, RATE, random(3)), 500);
    expect([text, interrupts(word, silence(0, RATE)), interrupts(word, car)]).toEqual([text, true, true]);
  }
});

test.for(["car", "pink", "white"] as const)("sudden %s noise does not interrupt, whatever its length", (kind) => {
  for (let seed = 1; seed <= 20; seed++) {
    const sound = withRms(noise(kind, 100 * seed, RATE, random(seed)), 3_000);
    expect([seed, interrupts(sound, silence(0, RATE))]).toEqual([seed, false]);
  }
});
