import { concatPcm } from "../../src/audio/pcm.ts";
import { resample } from "../../src/audio/resample.ts";
import type { Speech } from "../../src/ports/speech.ts";

/** The voices that a simulated callee may have, best first. */
const VOICES = ["en-US-1", "en-GB-1"];

/** Lets the simulator's callees speak with the installed voices. */
export function sayThrough(speech: Speech): (text: string, sampleRate: number) => Promise<Int16Array> {
  return async (text, sampleRate) => {
    const pieces: Int16Array[] = [];
    let rate = sampleRate;
    for await (const chunk of speech.speak(text, await firstVoice(speech), new AbortController().signal)) {
      rate = chunk.sampleRate;
      pieces.push(chunk.samples);
    }
    return resample(concatPcm(pieces), rate, sampleRate);
  };
}

async function firstVoice(speech: Speech): Promise<string> {
  const known = new Set((await speech.voices()).map(({ id }) => id));
  return VOICES.find((id) => known.has(id)) ?? "en-US-1";
}
