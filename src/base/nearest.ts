/** The most similar name, ignoring case; undefined if none is close. */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  const scored = candidates.map((candidate) => ({
    candidate,
    distance: distance(name.toLowerCase(), candidate.toLowerCase()),
  }));
  const [best] = scored.sort((a, b) => a.distance - b.distance);
  if (best === undefined || best.distance >= name.length) return undefined;
  return best.distance <= Math.max(2, Math.floor(name.length / 4)) ? best.candidate : undefined;
}

/** ` (did you mean …?)`, or nothing. */
export function didYouMean(name: string, candidates: readonly string[]): string {
  const suggestion = nearest(name, candidates);
  return suggestion === undefined ? "" : ` (did you mean ${suggestion}?)`;
}

/** Number of letters to add, remove or change (Levenshtein). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}
