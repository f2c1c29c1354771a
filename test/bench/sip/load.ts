import process from "node:process";
import type { LatenessFigures } from "../../../src/audio/playout/lateness.ts";
import { progress } from "../benchmark.ts";
import { pause } from "../many-calls.ts";

/** A configurable number of concurrent audio flows: the bare loop, or calls. */
export interface Load {
  /** Lateness of packets sent since `begin`. */
  readonly lateness: LatenessFigures;
  /** Packets sent and received, and number of underruns, since `begin`. */
  readonly sent: number;
  readonly received: number;
  readonly underruns: number;
  /** Sets the number of flows. */
  grow(count: number): Promise<void>;
  /** Starts counting. */
  begin(): void;
  close(): Promise<void>;
}

/** Result of a number of flows. */
export interface Held {
  readonly count: number;
  readonly p99: number;
  readonly max: number;
  /** Shares of the packets due in the window. */
  readonly sent: number;
  readonly received: number;
  readonly underruns: number;
  /** Share of one core. */
  readonly processor: number;
  /** p99 of at most 5 ms, all sent, all but a thousandth received, nothing ran dry. */
  readonly good: boolean;
}

const WORST_P99_MS = 5;
const SETTLE_MS = 1_500;
/** Factor between the flows of successive tries. */
const STEP = 1.12;

/** Runs this many flows and measures them. */
export async function tryOut(load: Load, count: number, seconds: number): Promise<Held> {
  await load.grow(count);
  await pause(SETTLE_MS);
  load.begin();
  const begun = performance.now();
  const cpu = process.cpuUsage();
  await pause(seconds * 1000);
  const { user, system } = process.cpuUsage(cpu);
  const elapsed = performance.now() - begun;
  const due = (count * elapsed) / 20;
  const { p99, max } = load.lateness;
  const [sent, received, { underruns }] = [load.sent / due, load.received / due, load];
  const good = p99 <= WORST_P99_MS && sent > 0.995 && received > 0.99 && underruns === 0;
  const held = { count, p99, max, sent, received, underruns, processor: (user + system) / 1000 / elapsed, good };
  progress(
    `${count}: p99 ${p99.toFixed(1)} ms, sent ${(sent * 100).toFixed(1)} %, received ${(received * 100).toFixed(1)} %, ` +
      `${underruns} underruns, ${(held.processor * 100).toFixed(0)} % of a core${good ? "" : " - too many"}`,
  );
  return held;
}

/** The largest number that is carried well: more and more, until one fails twice; then once more, half a step back. */
export async function maxHeld(open: () => Load, from: number, seconds: number): Promise<Held> {
  let load = open();
  try {
    let best: Held | undefined;
    for (let count = from; ; ) {
      let held = await tryOut(load, count, seconds);
      if (!held.good) held = await tryOut(load, count, seconds); // the machine has other work as well
      if (held.good) {
        best = held;
        count = Math.ceil(count * STEP);
        continue;
      }
      await load.close();
      load = open();
      if (best !== undefined) {
        const between = await tryOut(load, Math.round((best.count + count) / 2), seconds);
        return between.good ? between : best;
      }
      if (count < 10) return held;
      count = Math.floor(count / 2);
    }
  } finally {
    await load.close();
  }
}
