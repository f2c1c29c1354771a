import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { type CallCodec, CallsLoad } from "../../../adapters/cli/bench/calls-load.ts";
import { rampResult, type Trial, type TrialCounts, type TrialLimits } from "../../../adapters/cli/bench/ramp.ts";
import { type AudioLoad, ramp, runTrial, type TrialTimes } from "../../../adapters/cli/bench/trial.ts";
import { createEngine } from "../../../adapters/sip-stack/media/create-engine.ts";
import { type MediaEngine, MediaOverloaded } from "../../../adapters/sip-stack/media/engine.ts";
import type { LatenessFigures } from "../../../src/audio/playout/lateness.ts";
import { silentLogger } from "../../../src/ports/logger.ts";
import { realSystem } from "../../../src/ports/system.ts";
import { benchmark, ms, percent, progress, type Row, row } from "../harness/benchmark.ts";
import { ALL_RUNTIMES, insideEach, type Measure } from "../harness/programs.ts";
import { withEcho } from "./echo.ts";

/** Calls in one and in two media threads: their processor time, and with Opus their maximum. */
export const MEDIA_THREADS = benchmark({
  options: {
    from: { meaning: "calls in each thread with Opus; ten times as many with G.711", value: 30, quick: 5 },
    seconds: { meaning: "length of each trial", value: 5, quick: 2 },
  },
  run: (values) => withEcho((port) => insideEach(ALL_RUNTIMES.slice(0, 2), import.meta.url, { ...values, port })),
});

interface Options {
  readonly from: number;
  readonly seconds: number;
  readonly port: number;
}

export const measure: Measure<Options> = async (options) => {
  const { from } = options;
  return [
    ...(await efficiency({ codec: "PCMU", name: "G.711", count: 10 * from }, options)),
    ...(await efficiency({ codec: "opus", name: "Opus", count: from }, options)),
    await maximum(options),
  ];
};

/** Processor time of a call if one thread has `count`, and if two have as many each. */
async function efficiency(
  { codec, name, count }: { readonly codec: CallCodec; readonly name: string; readonly count: number },
  { port, seconds }: Options,
): Promise<Row[]> {
  const cost = async (threads: number): Promise<{ all: number; own: number }> => {
    const load = await ThreadsLoad.open(threads, codec, port);
    try {
      const calls = threads * count;
      const { processor } = await runTrial(load, calls, trialTimes(seconds));
      progress(`${name}, ${threads} threads, ${calls} calls: ${percent(processor, 0)} of a core`);
      return { all: (processor * 1_000) / calls, own: (load.ownProcessor * 1_000) / calls };
    } finally {
      await load.close();
    }
  };
  const [one, two] = [await cost(1), await cost(2)];
  const each = "processor per second of a call";
  return [
    row(`${name}: ${each}, one thread with ${count}`, `${one.all.toFixed(2)} ms`),
    row(`${name}: ${each}, two threads with ${count} each`, `${two.all.toFixed(2)} ms`),
    row(
      `${name}: of which in the application's thread`,
      Number.isNaN(two.own) ? "unknown" : `${two.own.toFixed(2)} ms`,
    ),
    row(`${name}: calls per processor time, two threads against one`, (one.all / two.all).toFixed(2)),
  ];
}

async function maximum(options: Options): Promise<Row> {
  const [one, two] = [await maxCalls(1, options), await maxCalls(2, options)];
  const ratio = two / one;
  return row(
    "Opus calls in two threads, against one",
    `${ratio.toFixed(2)} (${two} against ${one})`,
    "≥ 1.7",
    ratio >= 1.7,
  );
}

const SETTLE_MS = 2_500;

const trialTimes = (seconds: number): TrialTimes & TrialLimits => ({
  settleMs: SETTLE_MS,
  windowMs: seconds * 1_000,
  maxP99Ms: 5,
});

async function maxCalls(threads: number, { from, seconds, port }: Options): Promise<number> {
  const load = await ThreadsLoad.open(threads, "opus", port);
  const trials: Trial[] = [];
  try {
    for await (const trial of ramp(load, { first: from * threads, ...trialTimes(seconds) })) {
      const { count, p99, processor, limit } = trial;
      progress(
        `${threads} threads, ${count} calls: ${ms(p99)} late, ${percent(processor, 0)} of a core ${limit ?? ""}`,
      );
      trials.push(trial);
    }
  } finally {
    await load.close();
  }
  return rampResult(trials).carried?.count ?? 0;
}

/** Interval between two looks at the lateness of the threads, ms. */
const LOOK_MS = 250;

/** Calls in media threads. */
class ThreadsLoad implements AudioLoad {
  readonly #engine: MediaEngine;
  readonly #calls: CallsLoad;
  readonly #timer = setInterval(() => this.#look(), LOOK_MS);
  /** Lateness that nine of ten frames of the latest thread did not exceed in any second, ms. */
  #maxMs = 0;

  #ownAtBegin = ownProcessorMs();
  #beganAt = performance.now();

  private constructor(engine: MediaEngine, codec: CallCodec, port: number) {
    this.#engine = engine;
    this.#calls = new CallsLoad({ codec, ports: [port], engine });
  }

  static async open(threads: number, codec: CallCodec, port: number): Promise<ThreadsLoad> {
    const parts = { system: realSystem, logger: silentLogger };
    return new ThreadsLoad(await createEngine({ ...parts, place: "worker", threads }), codec, port);
  }

  /** Processor time of this thread since `begin`, as a share of one core; NaN if the runtime does not report it. */
  get ownProcessor(): number {
    return (ownProcessorMs() - this.#ownAtBegin) / (performance.now() - this.#beganAt);
  }

  get lateness(): LatenessFigures {
    return { frames: 0, p50: 0, p99: this.#maxMs, max: this.#maxMs };
  }

  async resize(count: number): Promise<void> {
    for (;;)
      try {
        return await this.#calls.resize(count);
      } catch (fault) {
        if (!(fault instanceof MediaOverloaded)) throw fault;
        await pause(LOOK_MS);
      }
  }

  begin(): void {
    this.#maxMs = 0;
    this.#ownAtBegin = ownProcessorMs();
    this.#beganAt = performance.now();
    this.#calls.begin();
  }

  counts(): TrialCounts {
    return this.#calls.counts();
  }

  close(): Promise<void> {
    clearInterval(this.#timer);
    return this.#calls.close();
  }

  #look(): void {
    for (const { latenessMs } of this.#engine.threads()) this.#maxMs = Math.max(this.#maxMs, latenessMs);
  }
}

/** Processor time of this thread, ms; NaN if unknown. */
function ownProcessorMs(): number {
  const { threadCpuUsage } = process as { threadCpuUsage?: () => { user: number; system: number } };
  if (threadCpuUsage === undefined) return Number.NaN;
  const { user, system } = threadCpuUsage.call(process);
  return (user + system) / 1_000;
}
