/** A spoken text, and its transcript. */
export interface Saying {
  /** Compared by its letters and digits, ignoring case. */
  readonly text: string;
  /** Its audio at this rate: 0.6 to 5 s. */
  samples(sampleRate: number): Int16Array;
}

/** True if the joined texts equal the spoken one in letters and digits. */
export function isSaid(texts: readonly string[], ...sayings: readonly Saying[]): boolean {
  return lettersOf(texts) === lettersOf(sayings.map(({ text }) => text));
}

function lettersOf(texts: readonly string[]): string {
  return texts
    .join("")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "");
}
