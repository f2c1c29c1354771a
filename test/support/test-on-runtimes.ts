import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Runtime, type RuntimeName, runtimes } from "./runtimes.ts";

/** How the test runner itself runs under each of them; unlike the server, tests may do anything. */
const FLAGS: Readonly<Record<RuntimeName, readonly string[]>> = {
  node22: ["--disable-warning=ExperimentalWarning"],
  node26: ["--disable-warning=ExperimentalWarning"],
  bun: ["--bun"],
  deno: ["run", "-A"],
};
/** The tests of the library. Neither the source tree nor the HTTP contract depends on the runtime. */
const TESTS = [
  ...["--project", "unit", "--project", "integration"],
  ...["--exclude", "test/structure/**", "--exclude", "test/http/contract/**"],
];
const VITEST = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));

/**
 * `npm run test:runtimes [-- RUNTIME…] [what vitest takes…]`: the unit and integration tests under each runtime, one
 * after the other. Ends with 1 if one of them failed. A runtime that is missing is skipped; under CI that is an error.
 */
function main(args: readonly string[]): number {
  const isName = (arg: string): boolean => runtimes.some(({ name }) => name === arg);
  const more = args.findIndex((arg) => !isName(arg));
  const names = more < 0 ? args : args.slice(0, more);
  const chosen = runtimes.filter(({ name }) => names.length === 0 || names.includes(name));
  const results = chosen.map((runtime) => ({ runtime, ...testOn(runtime, more < 0 ? [] : args.slice(more)) }));
  console.log();
  for (const { runtime, verdict, seconds } of results)
    console.log(`${runtime.name.padEnd(7)} ${verdict.padEnd(8)} ${runtime.missing ?? `${seconds} s`}`);
  return results.some(({ verdict }) => verdict === "failed") ? 1 : 0;
}

function testOn(
  { name, command: [program], missing }: Runtime,
  more: readonly string[],
): { verdict: "passed" | "failed" | "skipped"; seconds: number } {
  if (missing !== undefined || program === undefined) return { verdict: "skipped", seconds: 0 };
  console.log(`\n── ${name}`);
  const startedAt = performance.now();
  const pool = name === "bun" ? ["--pool=threads"] : []; // Bun's child processes do not speak to vitest
  const { status } = spawnSync(program, [...FLAGS[name], VITEST, "run", ...TESTS, ...pool, ...more], {
    stdio: "inherit",
  });
  return { verdict: status === 0 ? "passed" : "failed", seconds: Math.round((performance.now() - startedAt) / 1000) };
}

process.exitCode = main(process.argv.slice(2));
