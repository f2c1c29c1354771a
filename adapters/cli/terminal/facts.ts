import { inOneCell, table } from "./table.ts";
import { paint, print } from "./terminal.ts";

/** Prints what is known of one thing, a line each; unknown facts are left out. */
export function printFacts(facts: readonly (readonly [name: string, value: string | null | undefined])[]): void {
  const known = facts.flatMap(([name, value]) => (value == null || value === "" ? [] : [[paint(2, name), value]]));
  for (const row of table(known.map(([name = "", value = ""]) => [name, inOneCell(value)]))) print(row);
}
