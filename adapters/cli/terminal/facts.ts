import { shownValue } from "./shown-value.ts";
import { inOneCell, table } from "./table.ts";
import { paint, print, terminalColumns } from "./terminal.ts";

/** Prints what is known of one thing, a fact each; unknown facts are left out, long ones are wrapped. */
export function printFacts(facts: readonly (readonly [name: string, value: unknown])[]): void {
  const rows = facts
    .map(([name, value]) => [paint(2, name), inOneCell(shownValue(value))])
    .filter(([, shown]) => shown !== "");
  for (const line of table(rows, terminalColumns())) print(line);
}
