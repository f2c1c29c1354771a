/** An utterance: its text and its audio. */
export interface Saying {
  /** Compared by its letters and digits, ignoring case. */
  readonly text: string;
  /** Audio of the utterance at this rate: 0.6 to 5 s. */
  samples(sampleRate: number): Int16Array;
}

/** True if the joined texts have the same letters and digits as the spoken text. */
export function isSaid(texts: readonly string[], ...sayings: readonly Saying[]): boolean {
  return lettersOf(texts) === lettersOf(sayings.map(({ text }) => text));
}

function lettersOf(texts: readonly string[]): string {
  return texts
    .join("")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "");
}
