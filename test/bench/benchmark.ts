/** One row of a table: the measure, the result, and the target. */
export interface Row {
  readonly what: string;
  readonly measured: string;
  /** The target; missing for a figure that only explains others. */
  readonly wanted?: string;
  /** True if the target was reached; present with `wanted`. */
  readonly reached?: boolean;
}

/** One benchmark: what `npm run bench -- NAME` runs and its text in `docs/benchmarks.md`. */
export interface Benchmark {
  /** The measure, in one line. */
  readonly title: string;
  /** Exact definition of the measure and its baseline: Markdown for the document, plain enough for `--help`. */
  readonly method: string;
  /** Reasons for rows that miss their target: Markdown. */
  readonly remarks?: string;
  /** Its numbers, by the name of their command-line option. */
  readonly options: Readonly<Record<string, BenchmarkOption>>;
  /** @param options the value of each option */
  run(options: Readonly<Record<string, number>>): Promise<readonly Row[]>;
}

export interface BenchmarkOption {
  readonly meaning: string;
  readonly value: number;
  /** Its value with `--quick`; the same when not given. */
  readonly quick?: number;
}

/** Prints progress, separately from the tables. */
export function progress(words: string): void {
  console.error(`  … ${words}`);
}
