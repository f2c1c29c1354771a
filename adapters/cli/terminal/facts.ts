import { shownValue } from "./shown-value.ts";
import { inOneCell, table } from "./table.ts";
import { paint, print, terminalColumns } from "./terminal.ts";

/** Prints facts about a record, one per line; skips unknown values and wraps long ones. */
export function printFacts(facts: readonly (readonly [name: string, value: unknown])[]): void {
  const rows = facts
    .map(([name, value]) => [paint(2, name), inOneCell(shownValue(value))])
    .filter(([, text]) => text !== "");
  for (const line of table(rows, terminalColumns())) print(line);
}
