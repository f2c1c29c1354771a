const LONGEST = 200;

/** What a far side wrote, fit for a sentence: on one line, and cut. */
export function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is taken out
  const line = text.slice(0, 2 * LONGEST).replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}
