import { paint, terminalColumns } from "./terminal.ts";
import { columnsOf, wrapped } from "./wrapped.ts";

/** The result of one check. */
export interface MarkedText {
  readonly name: string;
  readonly state: "works" | "missing" | "broken";
  readonly detail: string;
  /** The fix; null if none is needed. */
  readonly fix: string | null;
}

const MARKS = { works: paint(32, "✓"), missing: paint(33, "–"), broken: paint(31, "✗") };
const NAME_WIDTH = 18;

/** Text with ✓, – or ✗, the subject, the finding and the fix, on one line, or on several if the terminal is narrow. */
export function markedLine({ name, state, detail, fix }: MarkedText): string {
  const text = `${detail}${fix === null ? "" : ` → ${fix}`}`;
  const indent = NAME_WIDTH + 2;
  const lines = columnsOf(text) + indent <= terminalColumns() ? [text] : wrapped(text, terminalColumns() - indent);
  return `${MARKS[state]} ${name.padEnd(NAME_WIDTH - 1)} ${lines.join(`\n${" ".repeat(indent)}`)}`;
}
