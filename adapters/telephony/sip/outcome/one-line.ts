const LONGEST = 200;

/** A text of a peer, made fit for a sentence: on one line, and truncated. */
export function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are removed
  const line = text.slice(0, 2 * LONGEST).replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}
