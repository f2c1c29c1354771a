import { readFile } from "node:fs/promises";
import { rms } from "../../src/audio/samples/pcm.ts";
import { toneShare } from "../../src/audio/tones/tone.ts";

/** Frequency of the tone in all files, Hz; each lasts 3 s. */
export const TONE_HZ = 1000;

/** MP3 at 44.1 kHz, stereo, with tags and a cover. */
export const stereoMp3: Uint8Array = await fixture("tone-44k-stereo-id3.mp3");
/** MP3 at 16 kHz, mono, of variable bit rate. */
export const vbrMp3: Uint8Array = await fixture("tone-16k-mono-vbr.mp3");
/** MP3 at 8 kHz, mono, without gapless information. */
export const gappedMp3: Uint8Array = await fixture("tone-8k-mono.mp3");

/** Length of the uninterrupted tone, ms: the longest run of 10 ms pieces with only the tone. */
export function toneMs(samples: Int16Array, sampleRate: number): number {
  const window = sampleRate / 100;
  let longestRun = 0;
  let run = 0;
  for (let at = 0; at + window <= samples.length; at += window) {
    const piece = samples.subarray(at, at + window);
    run = rms(piece) > 1000 && toneShare(piece, TONE_HZ, sampleRate) > 0.95 ? run + 1 : 0;
    longestRun = Math.max(longestRun, run);
  }
  return 10 * longestRun;
}

async function fixture(name: string): Promise<Uint8Array> {
  return new Uint8Array(await readFile(new URL(`../fixtures/${name}`, import.meta.url)));
}
