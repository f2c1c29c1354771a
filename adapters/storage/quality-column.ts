import type { QualityInterval } from "../../src/domain/quality-series.ts";

/** An interval without the names of its fields: a long call has a hundred of them, and lists read them too. */
type Row = readonly [number, number, number, number, number, number | null, number | null];

/** The quality of a call as JSON; null if nothing was measured. */
export function qualityColumn(intervals: readonly QualityInterval[] | undefined): string | null {
  if (intervals === undefined) return null;
  const rows = intervals.map(
    (interval): Row => [
      interval.untilMs,
      interval.packetsSent,
      interval.packetsReceived,
      interval.packetsLost,
      interval.jitterMs,
      interval.roundTripMs,
      interval.remoteLoss,
    ],
  );
  return JSON.stringify(rows);
}

/** The quality in a column of {@link qualityColumn}. */
export function qualityIn(column: string): QualityInterval[] {
  return (JSON.parse(column) as Row[]).map(
    ([untilMs, packetsSent, packetsReceived, packetsLost, jitterMs, roundTripMs, remoteLoss]) => ({
      untilMs,
      packetsSent,
      packetsReceived,
      packetsLost,
      jitterMs,
      roundTripMs,
      remoteLoss,
    }),
  );
}
