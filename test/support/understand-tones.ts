import { toneShare } from "../../src/audio/tones/tone.ts";

/** Frequencies of the recognized tones, Hz. */
const TONES = [300, 440, 600, 880, 1_200];

/** Recognizes tones instead of words: returns the name of the strongest tone, or an empty text. */
export function understandTones(samples: Int16Array, sampleRate: number): string {
  const toneShares = TONES.map((hz) => ({ hz, share: toneShare(samples, hz, sampleRate) }));
  const best = toneShares.reduce((first, other) => (other.share > first.share ? other : first));
  return best.share > 0.3 ? `tone ${best.hz}` : "";
}
