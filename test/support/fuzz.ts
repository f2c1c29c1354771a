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

/** Number of surrogates, which are not characters, and the first of them. */
const SURROGATES = 0x800;
const FIRST_SURROGATE = 0xd800;

/**
 * Any character, as the unit "binary" of `fc.string`: the same texts from the same seed. That unit builds a table of all 1.1 million
 * characters, which takes a second and 80 MB in each process.
 */
export const CODE_POINT: fc.Arbitrary<string> = fc.nat({ max: 0x10ffff - SURROGATES }).map(
  (index) => String.fromCodePoint(index < FIRST_SURROGATE ? index : index + SURROGATES),
  (text) => {
    const codePoint = typeof text === "string" ? text.codePointAt(0) : undefined;
    if (codePoint === undefined || String.fromCodePoint(codePoint) !== text || !text.isWellFormed())
      throw new TypeError("is not one character");
    return codePoint < FIRST_SURROGATE ? codePoint : codePoint - SURROGATES;
  },
);

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
