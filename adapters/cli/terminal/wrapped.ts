import { withoutColours } from "./terminal.ts";

/** Breaks text into lines of at most this many columns. A longer word, such as an id, stays whole. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/ +/)) {
    if (line !== "" && columnsOf(line) + 1 + columnsOf(word) > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** The text cut to this many columns; "…" replaces the rest. */
export function shortenedRow(text: string, width: number): string {
  const characters = [...withoutColours(text)];
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join("")}…`;
}

/** Number of columns that text takes on a terminal; colours take none. */
export function columnsOf(text: string): number {
  return [...withoutColours(text)].length;
}
