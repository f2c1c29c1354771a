import type { Row } from "../benchmark.ts";
import type { Held } from "./load.ts";

/** Result of this many calls. */
export function rowsOf(held: Held): readonly Row[] {
  const { count, p99, max, received, processor } = held;
  return [
    { what: `lateness p99 with ${count} calls`, measured: `${p99.toFixed(1)} ms (max ${max.toFixed(1)} ms)` },
    { what: "packets back in the window", measured: `${(received * 100).toFixed(1)} %` },
    { what: "processor in the window", measured: `${(processor * 100).toFixed(0)} % of one core, ${perPacket(held)}` },
  ];
}

/** A number of calls that is to be reached. */
export function callsRow({ count, good }: Held, wanted: number | undefined): Row {
  const row = { what: "calls at once", measured: `${good ? count : 0}` };
  return wanted === undefined ? row : { ...row, wanted: `≥ ${wanted}`, reached: good && count >= wanted };
}

/** Processor time for a packet each way. */
export function perPacket({ count, processor }: Held): string {
  return `${((processor * 20_000) / count).toFixed(1)} µs per packet each way`;
}
