/** One line of a table. */
export interface Row {
  readonly what: string;
  readonly measured: string;
  /** The target; missing for a purely explanatory figure. */
  readonly wanted?: string;
  /** True if the target was reached; set if `wanted` is. */
  readonly reached?: boolean;
}

/** Values of the options of a benchmark, by name. */
export type Values<Name extends string = string> = Readonly<Record<Name, number>>;

/** Description of a benchmark; its title and its method are the section with its name in `docs/benchmarks.md`. */
export interface Benchmark<Name extends string = string> {
  readonly options: Readonly<Record<Name, BenchmarkOption>>;
  run(values: Values<Name>): Promise<readonly Row[]>;
}

export interface BenchmarkOption {
  readonly meaning: string;
  readonly value: number;
  /** Its value with `--quick`; default: the same. */
  readonly quick?: number;
}

/** Checks that a benchmark reads only the options that it describes. */
export function benchmark<Name extends string>(description: Benchmark<Name>): Benchmark {
  return description;
}

export function row(what: string, measured: string, wanted?: string, reached = false): Row {
  return wanted === undefined ? { what, measured } : { what, measured, wanted, reached };
}

/** A figure with an upper limit. @param measured how it is shown; default: the figure with one decimal and the unit */
export function atMost(what: string, value: number, limit: number, unit: string, measured = shown(value, unit)): Row {
  return row(what, measured, `≤ ${shown(limit, unit, 0)}`, value <= limit);
}

/** A count that must be complete. */
export function allOf(what: string, count: number, total: number): Row {
  return row(what, `${count} of ${total}`, "all", count === total);
}

/** A high percentile of many times in ms with an upper limit, beside their median. @param more text after the median */
export function percentile(what: string, values: readonly number[], share: number, limit: number, more = ""): Row {
  const high = quantile(values, share);
  const measured = `${ms(high)} (p50 ${ms(median(values))}${more})`;
  return atMost(`${what}, p${share * 100}`, high, limit, "ms", measured);
}

export function shown(value: number, unit: string, digits = 1): string {
  return `${Number.isInteger(value) && digits === 0 ? value.toLocaleString("en-US") : value.toFixed(digits)} ${unit}`;
}

export const ms = (value: number, digits = 1): string => shown(value, "ms", digits);

export const perSecond = (rate: number): string => `${Math.round(rate).toLocaleString("en-US")}/s`;

export const percent = (share: number, digits = 1): string => shown(share * 100, "%", digits);

/** Prints progress, separately from the tables. */
export function progress(words: string): void {
  console.error(`  … ${words}`);
}

/** Median of several measurements. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Value that this share of the measurements does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

/**
 * Measures several sides in turns: each once in every round, so that other load on the machine affects all of them. The first
 * rounds warm up and do not count.
 * @param label of the progress; none is printed without it
 */
export async function inRounds<Figures extends object>(
  rounds: number,
  sides: { readonly [Side in keyof Figures]: (isWarmUp: boolean) => Figures[Side] | Promise<Figures[Side]> },
  { label, warmUp = 1 }: { readonly label?: string; readonly warmUp?: number } = {},
): Promise<{ [Side in keyof Figures]: Figures[Side][] }> {
  const names = Object.keys(sides) as (keyof Figures)[];
  const figures = Object.fromEntries(names.map((name) => [name, []])) as unknown as {
    [Side in keyof Figures]: Figures[Side][];
  };
  for (let round = 1 - warmUp; round <= rounds; round++) {
    if (label !== undefined) progress(`${label}: ${round < 1 ? "warming up" : `round ${round} of ${rounds}`}`);
    for (const name of names) {
      const figure = await sides[name](round < 1);
      if (round >= 1) figures[name].push(figure);
    }
  }
  return figures;
}

/** The median of the ratios of each round. */
export function ratioOf(ours: readonly number[], baseline: readonly number[]): number {
  return median(ours.map((figure, round) => figure / baseline[round]!));
}
