/** One line of a table. */
export interface Row {
  readonly figure: string;
  readonly measured: string;
  /** The target; missing for a purely explanatory figure. */
  readonly target?: string;
  /** True if the target was reached; present with `target`. */
  readonly reached?: boolean;
}

/** A benchmark's option values, by name. */
export type Values<Name extends string = string> = Readonly<Record<Name, number>>;

/** A benchmark; its title and method are in the section with its name in `docs/benchmarks.md`. */
export interface Benchmark<Name extends string = string> {
  readonly options: Readonly<Record<Name, BenchmarkOption>>;
  run(values: Values<Name>): Promise<readonly Row[]>;
}

export interface BenchmarkOption {
  readonly meaning: string;
  readonly value: number;
  /** Value with `--quick`. Default: `value`. */
  readonly quick?: number;
}

/** Checks that a benchmark reads only the options that it describes. */
export function benchmark<Name extends string>(description: Benchmark<Name>): Benchmark {
  return description;
}

export function row(figure: string, measured: string, target?: string, reached = false): Row {
  return target === undefined ? { figure, measured } : { figure, measured, target, reached };
}

/** A figure with an upper limit. @param measured text of the figure; default: one decimal and the unit */
export function atMost(
  figure: string,
  value: number,
  limit: number,
  unit: string,
  measured = formatValue(value, unit),
): Row {
  return row(figure, measured, `≤ ${formatValue(limit, unit, 0)}`, value <= limit);
}

/** A count that must be complete. */
export function allOf(figure: string, count: number, total: number): Row {
  return row(figure, `${count} of ${total}`, "all", count === total);
}

/** A high percentile of many times in ms with an upper limit, beside their median. @param suffix text after the median */
export function percentile(figure: string, values: readonly number[], share: number, limit: number, suffix = ""): Row {
  const high = quantile(values, share);
  const measured = `${ms(high)} (p50 ${ms(median(values))}${suffix})`;
  return atMost(`${figure}, p${share * 100}`, high, limit, "ms", measured);
}

export function formatValue(value: number, unit: string, digits = 1): string {
  return `${Number.isInteger(value) && digits === 0 ? value.toLocaleString("en-US") : value.toFixed(digits)} ${unit}`;
}

export const ms = (value: number, digits = 1): string => formatValue(value, "ms", digits);

export const perSecond = (rate: number): string => `${Math.round(rate).toLocaleString("en-US")}/s`;

export const percent = (share: number, digits = 1): string => formatValue(share * 100, "%", digits);

/** Prints progress, separately from the tables. */
export function progress(text: string): void {
  console.error(`  … ${text}`);
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
 * Measures several sides in turns: each once in every round, so that other load on the machine affects all of them. The
 * first rounds warm up and do not count.
 * @param label label of the progress; without it no progress is printed
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

/** The median of the rounds' ratios. */
export function ratioOf(figures: readonly number[], baseline: readonly number[]): number {
  return median(figures.map((figure, round) => figure / baseline[round]!));
}
