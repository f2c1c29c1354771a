import { expect } from "vitest";
import { loudPart, phaseJump, type Sound, toneShare } from "../../support/server-sound.ts";
import type { Baresip } from "./baresip.ts";
import { monoOf } from "./sound.ts";

/** An expected tone. */
export interface ExpectedTone {
  readonly hz: number;
  /** Length of the tone, ms. */
  readonly ms: number;
  /** Tolerance of its length, ms. Default: 5, with Opus 25. */
  readonly toleranceMs?: number | undefined;
  /** Maximum total length of its pauses, ms. Default: 0. */
  readonly pausesMs?: number;
  /** True for a call over Opus, in which a tone wavers a little. */
  readonly opus?: boolean;
}

/** Maximum deviation of silence: all samples are equal, but not always 0, for example with G.711. */
const SILENCE = 8;
/** Minimum silence that ends a tone, ms. */
const PAUSE_MS = 5;

const msOf = ({ sampleRate }: Sound, samples: number): number => (samples * 1000) / sampleRate;

/**
 * Expects that a softphone heard one whole tone in its last call, with no sample lost, doubled or out of place. Returns the end of the tone and the length of the call, ms.
 */
export async function expectTone(
  softphone: Baresip,
  { hz, ms, opus = false, toleranceMs: within = opus ? 25 : 5, pausesMs = 0 }: ExpectedTone,
): Promise<{ readonly endMs: number; readonly callMs: number }> {
  const { sound } = await monoOf(await softphone.heardFile(), opus ? 16_000 : 8_000);
  const { from, to } = loudPart(sound, 500);
  const loudSound = { ...sound, samples: sound.samples.subarray(from, to) };
  const tone = withoutPauses(loudSound);
  const { length } = tone.samples;
  expect(Math.abs(msOf(sound, length) - ms)).toBeLessThanOrEqual(within);
  expect(msOf(sound, loudSound.samples.length - length)).toBeLessThanOrEqual(pausesMs);
  const edge = sound.sampleRate / 20;
  expectUnbroken({ ...tone, samples: tone.samples.subarray(edge, -edge) }, hz, opus);
  return { endMs: msOf(sound, to), callMs: msOf(sound, sound.samples.length) };
}

/** Expects a sound to be this tone alone, without a sample of 16 kHz lost or doubled. */
export function expectUnbroken(sound: Sound, hz: number, opus = false): void {
  expect(toneShare(sound, hz)).toBeGreaterThan(0.97);
  if (!opus) expect(phaseJump(sound, hz) / sound.sampleRate).toBeLessThan(0.4 / 16_000);
}

/** The sound without its pauses. */
function withoutPauses({ sampleRate, samples }: Sound): Sound {
  const sound = new Int16Array(samples.length);
  let length = 0;
  for (let from = 0; from < samples.length; ) {
    const level = samples[from]!;
    let to = from + 1;
    while (samples[to] === level) to++;
    if (Math.abs(level) > SILENCE || to - from < (PAUSE_MS * sampleRate) / 1000) {
      sound.set(samples.subarray(from, to), length);
      length += to - from;
    }
    from = to;
  }
  return { sampleRate, samples: sound.subarray(0, length) };
}
