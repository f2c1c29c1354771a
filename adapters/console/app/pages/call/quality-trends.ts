import type { QualityInterval } from "../../../../../src/client/index.ts";

/** Quantities measured over time. */
export const MEASURES = ["loss", "remoteLoss", "jitter", "roundTrip"] as const;
/** One of these quantities; losses are fractions of 1, other values are in ms. */
export type Measure = (typeof MEASURES)[number];

/** A measure over time. */
export interface Trend {
  /** One value per interval; null if it was not measured. */
  readonly values: readonly (number | null)[];
  /** Latest and highest measured value; undefined if there is none. */
  readonly latest: number | undefined;
  readonly highest: number | undefined;
}

/** Minimum full scale of each chart: a bad connection fills it, a good one stays low. */
const MIN_SCALE: Readonly<Record<Measure, number>> = { loss: 0.05, remoteLoss: 0.05, jitter: 40, roundTrip: 400 };

/** The trend of a measure over these intervals. */
export function trendOf(measure: Measure, intervals: readonly QualityInterval[]): Trend {
  const values = intervals.map((interval) => measuredValue(measure, interval));
  const measuredValues = values.filter((value) => value !== null);
  return {
    values,
    latest: measuredValues.at(-1),
    highest: measuredValues.length === 0 ? undefined : Math.max(...measuredValues),
  };
}

function measuredValue(measure: Measure, interval: QualityInterval): number | null {
  const { packets_received, packets_lost, remote_loss, jitter_ms, round_trip_ms } = interval;
  const expectedPackets = packets_received + packets_lost;
  switch (measure) {
    case "loss":
      return expectedPackets === 0 ? null : packets_lost / expectedPackets;
    case "remoteLoss":
      return remote_loss;
    case "jitter":
      return expectedPackets === 0 ? null : jitter_ms;
    case "roundTrip":
      return round_trip_ms;
  }
}

/**
 * The area under a trend, as the `d` of an SVG path with one step per interval. An interval without a value is a gap.
 * @param width width of the whole time
 */
export function areaOf(
  measure: Measure,
  { values, highest = 0 }: Trend,
  intervals: readonly QualityInterval[],
  { width, height }: { readonly width: number; readonly height: number },
): string {
  const scale = Math.max(MIN_SCALE[measure], highest);
  const ms = intervals.at(-1)?.until_ms ?? 0;
  const x = (atMs: number): number => roundHundredths((ms === 0 ? 0 : atMs / ms) * width);
  return values
    .map((value, i) => {
      if (value === null) return "";
      const from = x(intervals[i - 1]?.until_ms ?? 0);
      return `M${from} ${height}V${roundHundredths(height * (1 - value / scale))}H${x(intervals[i]?.until_ms ?? 0)}V${height}Z`;
    })
    .join("");
}

function roundHundredths(value: number): number {
  return Math.round(value * 100) / 100;
}
