import type { MediaStatistics } from "./media-statistics.ts";

/** The first intervals, ms: the pace of RTCP reports. */
const FIRST_INTERVAL_MS = 5_000;
/** Number of intervals at which neighbours are merged; even. */
export const INTERVAL_LIMIT: number = 120;

/** Statistics of a call's audio on the network during one interval. */
export interface QualityInterval {
  /** The end of the interval, ms after the call connected; it starts at the end of the previous interval. */
  readonly untilMs: number;
  /** Number of packets in this interval alone. */
  readonly packetsSent: number;
  readonly packetsReceived: number;
  readonly packetsLost: number;
  /** The highest measured jitter, ms. */
  readonly jitterMs: number;
  /** The highest measured round-trip time, ms; null if the remote side reports none. */
  readonly roundTripMs: number | null;
  /** Share of all our packets so far that the remote side reported as lost, 0 to 1; null without a report. */
  readonly remoteLoss: number | null;
}

/** Statistics at the end of an interval: packets are counted from the beginning of the call. */
type Sample = QualityInterval;

/**
 * The quality of a call's audio over time, in fewer than {@link INTERVAL_LIMIT} intervals, whatever the length of the
 * call: at that number, every two neighbours are merged, and the next intervals are twice as long.
 */
export class QualitySeries {
  #samples: Sample[] = [];
  #intervalMs = FIRST_INTERVAL_MS;

  /** Length of the next interval, ms. */
  get intervalMs(): number {
    return this.#intervalMs;
  }

  /**
   * The intervals so far, oldest first. The packets of all intervals add up to those of the last statistics: a packet
   * counted as lost that arrives after all is no longer lost.
   */
  get intervals(): readonly QualityInterval[] {
    const intervals: QualityInterval[] = [];
    let nextSample: Sample | undefined;
    for (const sample of this.#samples.toReversed()) {
      const cappedSample = nextSample
        ? withCounts(sample, (name) => Math.min(sample[name], nextSample?.[name] ?? 0))
        : sample;
      if (nextSample) intervals.push(withCounts(nextSample, (name) => (nextSample?.[name] ?? 0) - cappedSample[name]));
      nextSample = cappedSample;
    }
    if (nextSample) intervals.push(nextSample);
    return intervals.reverse();
  }

  /**
   * Adds statistics; they replace the latest statistics if `atMs` is not later.
   * @param atMs time after the call connected
   */
  add(atMs: number, statistics: MediaStatistics): void {
    const last = this.#samples.at(-1);
    if (last && atMs <= last.untilMs) this.#samples.pop();
    const { packetsSent, packetsReceived, packetsLost, jitterMs, roundTripMs, remoteLoss } = statistics;
    this.#samples.push({
      ...{ untilMs: Math.max(atMs, last?.untilMs ?? 0), packetsSent, packetsReceived, packetsLost },
      ...{ jitterMs: round(jitterMs, 2), roundTripMs: roundTripMs && round(roundTripMs, 2) },
      remoteLoss: remoteLoss && round(remoteLoss, 4),
    });
    if (this.#samples.length === INTERVAL_LIMIT) this.#halve();
  }

  /**
   * Merges two neighbours into the later interval, with the higher jitter and round trip of both, so that no peak is
   * lost.
   */
  #halve(): void {
    this.#samples = this.#samples.flatMap((laterSample, i) => {
      const earlierSample = this.#samples[i - 1];
      if (i % 2 === 0 || earlierSample === undefined) return [];
      const { jitterMs, roundTripMs } = earlierSample;
      const maxRoundTripMs =
        roundTripMs === null ? laterSample.roundTripMs : Math.max(roundTripMs, laterSample.roundTripMs ?? 0);
      return [{ ...laterSample, jitterMs: Math.max(jitterMs, laterSample.jitterMs), roundTripMs: maxRoundTripMs }];
    });
    this.#intervalMs *= 2;
  }
}

function withCounts(
  sample: Sample,
  count: (name: "packetsSent" | "packetsReceived" | "packetsLost") => number,
): QualityInterval {
  return {
    ...sample,
    packetsSent: count("packetsSent"),
    packetsReceived: count("packetsReceived"),
    packetsLost: count("packetsLost"),
  };
}

function round(value: number, decimals: number): number {
  return Number(value.toFixed(decimals));
}
