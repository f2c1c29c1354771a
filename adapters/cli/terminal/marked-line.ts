import { paint } from "./terminal.ts";

/** Something that was looked at. */
export interface Marked {
  readonly name: string;
  readonly state: "works" | "missing" | "broken";
  readonly detail: string;
  /** The fix; null if there is nothing to do. */
  readonly fix: string | null;
}

const MARKS = { works: paint(32, "✓"), missing: paint(33, "–"), broken: paint(31, "✗") };
const NAME_WIDTH = 18;

/** One line: ✓, – or ✗, what it is, what was found, and what to do about it. */
export function markedLine({ name, state, detail, fix }: Marked): string {
  return `${MARKS[state]} ${name.padEnd(NAME_WIDTH)}${detail}${fix === null ? "" : ` → ${fix}`}`;
}
