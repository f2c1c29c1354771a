/** One line of a table: what was measured, what came out, what was to be reached. */
export interface Row {
  readonly what: string;
  readonly measured: string;
  /** What was to be reached; missing for a figure that only explains the others. */
  readonly wanted?: string;
  /** Whether it was; given if `wanted` is. */
  readonly reached?: boolean;
}

/** One benchmark: what `npm run bench -- NAME` runs and its text in `docs/benchmarks.md`. */
export interface Benchmark {
  /** What is measured, in one line. */
  readonly title: string;
  /** What exactly is counted and against which baseline: Markdown for the document, plain enough for `--help`. */
  readonly method: string;
  /** Why rows fall short, if they do: Markdown. */
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

/** Prints progress, beside the tables. */
export function progress(words: string): void {
  console.error(`  … ${words}`);
}
