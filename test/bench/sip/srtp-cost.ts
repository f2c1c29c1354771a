import { CallsLoad } from "../../../adapters/cli/bench/calls-load.ts";
import { runTrial } from "../../../adapters/cli/bench/trial.ts";
import { inRounds, median, ms, ratioOf, row } from "../harness/benchmark.ts";
import { EventLoop, GarbageCollections, stallRow } from "../harness/event-loop.ts";

/** Options of the comparison. */
export interface SrtpCostOptions {
  /** Port of the echo on 127.0.0.1. */
  readonly port: number;
  /** Number of calls, the same with and without SRTP. */
  readonly count: number;
  readonly seconds: number;
}

const ROUNDS = 3;
const MAX_RATIO = 1.3;

/** Rows about the cost of SRTP: its processor time in relation to plain G.711, and the pauses of the thread. */
export async function srtpCost(options: SrtpCostOptions) {
  const figures = await inRounds(
    ROUNDS,
    { srtp: () => processorPerPacket(options, true), plain: () => processorPerPacket(options, false) },
    { label: `${options.count} calls with and without SRTP` },
  );
  const ratio = ratioOf(figures.srtp, figures.plain);
  const measured = `${ratio.toFixed(2)} (${median(figures.srtp).toFixed(1)} against ${median(figures.plain).toFixed(1)} µs)`;
  const figure = `processor for a packet each way with ${options.count} calls, against G.711 without SRTP`;
  return [row(figure, measured, `≤ ${MAX_RATIO}`, ratio <= MAX_RATIO), ...(await pauses(options))];
}

/** Processor time for a packet each way, µs. */
async function processorPerPacket(options: SrtpCostOptions, srtp: boolean): Promise<number> {
  const { processor, received } = await trial(options, srtp);
  return (processor * 20_000) / (options.count * received);
}

/** Pauses in a trial of its own, because observing them costs processor time. */
async function pauses(options: SrtpCostOptions) {
  const [loop, collections] = [new EventLoop(), new GarbageCollections()];
  await trial(options, true, () => {
    loop.start();
    collections.start();
  });
  loop.stop();
  collections.stop();
  const { count, totalMs, longestMs } = collections;
  return [
    stallRow(`longest turn of the event loop with ${options.count} calls`, loop),
    ...(GarbageCollections.areReported
      ? [
          row(
            `garbage collections in ${options.seconds} s`,
            `${count}, ${ms(totalMs)} in all, longest ${ms(longestMs)}`,
          ),
        ]
      : []),
  ];
}

async function trial({ port, count, seconds }: SrtpCostOptions, srtp: boolean, onBegin?: () => void) {
  const load = new CallsLoad({ codec: "PCMU", ports: [port], srtp });
  const begin = load.begin.bind(load);
  load.begin = () => {
    begin();
    onBegin?.();
  };
  try {
    return await runTrial(load, count, { settleMs: 1_500, windowMs: seconds * 1_000, maxP99Ms: 5 });
  } finally {
    await load.close();
  }
}
