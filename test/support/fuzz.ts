import * as fc from "fast-check";
import { test } from "vitest";

/** The environment variables; none outside Node, Bun and Deno. */
export const environment: Readonly<Record<string, string | undefined>> =
  (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env ?? {};

/** Number of inputs per property: FC_RUNS, or 100. The gate tries 200 in unit tests. */
export const fuzzRuns: number = Number(environment.FC_RUNS || 100);

/** Seed to repeat a failed run: FC_SEED, or undefined for a new one. */
const seed = environment.FC_SEED === undefined ? undefined : Number(environment.FC_SEED);

/** Parameters to repeat a failed run: FC_SEED and, to go directly to the smallest input, FC_PATH; empty for a new run. */
export const replay: { readonly seed?: number; readonly path?: string } = {
  ...(seed !== undefined && { seed }),
  ...(environment.FC_PATH && { path: environment.FC_PATH }),
};

/**
 * Registers a test that tries a fast-check property with `FC_RUNS` inputs.
 *
 * A failure prints the smallest input found and the line to repeat it with: `FC_SEED=… FC_RUNS=…`. Synchronous and
 * asynchronous properties both work.
 *
 * ```ts
 * fuzz("a name never breaks the parser", fc.property(fc.string(), (name) => { parse(name); }));
 * ```
 */
export function fuzz<Ts>(name: string, property: fc.IProperty<Ts> | fc.IAsyncProperty<Ts>): void {
  const timeout = Math.max(30_000, fuzzRuns * 20);
  test(name, { timeout }, async () => {
    const result = await fc.check(property as fc.IAsyncProperty<Ts>, {
      numRuns: fuzzRuns,
      ...(seed === undefined ? {} : { seed }),
    });
    if (!result.failed) return;
    const report = await fc.asyncDefaultReportMessage(result);
    throw new Error(`Repeat with FC_SEED=${result.seed} FC_RUNS=${result.numRuns}\n${report}`, {
      cause: result.errorInstance,
    });
  });
}
