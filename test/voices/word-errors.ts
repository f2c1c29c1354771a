/** Words of a text that were heard wrongly. */
export interface WordErrors {
  /** Number of words of the text. */
  readonly words: number;
  /** Number of words that are missing, wrong or too many; may exceed `words`. */
  readonly errors: number;
}

/**
 * Compares what was heard with what was said: the fewest words to replace, add and remove. Case, punctuation and
 * apostrophes do not count.
 */
export function wordErrors(reference: string, heard: string): WordErrors {
  const words = wordsOf(reference);
  return { words: words.length, errors: editDistance(words, wordsOf(heard)) };
}

/** Errors per word of several texts together; 0 if they have no words. */
export function wordErrorRate(texts: readonly WordErrors[]): number {
  const words = texts.reduce((sum, text) => sum + text.words, 0);
  return words === 0 ? 0 : texts.reduce((sum, text) => sum + text.errors, 0) / words;
}

/** The words of a text in lower case, as every recogniser writes them. */
export function wordsOf(text: string): readonly string[] {
  return text
    .normalize("NFC")
    .toLowerCase()
    .replace(/['’]/g, "")
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== "");
}

/** The Levenshtein distance. */
export function editDistance(from: readonly string[], to: readonly string[]): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [at, word] of from.entries()) {
    const next = [at + 1];
    for (const [column, other] of to.entries())
      next.push(Math.min(next[column]! + 1, row[column + 1]! + 1, row[column]! + (word === other ? 0 : 1)));
    row = next;
  }
  return row[to.length]!;
}
