import { readFileSync } from "node:fs";

/** The program and flags that an example's first line names: `#!/usr/bin/env -S deno run --allow-net`. */
export function shebang(script: string): [program: string, ...flags: string[]] {
  const words = /^#!\/usr\/bin\/env (?:-S )?(.+)/.exec(readFileSync(script, "utf8"))?.[1]?.split(" ") ?? [];
  const [program, ...flags] = words;
  if (program === undefined) throw new Error(`the first line of ${script} does not name the program that runs it`);
  return [program, ...flags];
}
