import { CallsLoad, type CallsLoadOptions } from "../../../adapters/cli/bench/calls-load.ts";
import { rampResult, type Trial } from "../../../adapters/cli/bench/ramp.ts";
import { type AudioLoad, ramp } from "../../../adapters/cli/bench/trial.ts";
import { benchmark, ms, percent, progress, row } from "../harness/benchmark.ts";
import { ALL_RUNTIMES, insideEach, type Measure } from "../harness/programs.ts";
import { BareLoop } from "./bare-loop.ts";
import { withEcho } from "./echo.ts";
import { srtpCost } from "./srtp-cost.ts";

interface Codec extends Omit<CallsLoadOptions, "ports"> {
  /** Target numbers of simultaneous calls; missing for a codec that is compared with the bare loop. */
  readonly targets?: Readonly<Partial<Record<"node" | "bun" | "deno", number>>>;
}

const G711: Codec = { codec: "PCMU" };
const SRTP: Codec = { codec: "PCMU", srtp: true, targets: { node: 550, bun: 550, deno: 200 } };
const G722: Codec = { codec: "G722", targets: { node: 100, bun: 100 } };
const OPUS: Codec = { codec: "opus", targets: { node: 60, bun: 60 } };

/** Simultaneous calls with each codec. */
export const SIP_CALLS_AT_ONCE = {
  "sip-g711": callsAtOnce(G711, 200, 50),
  "sip-srtp": callsAtOnce(SRTP, 200, 50),
  "sip-g722": callsAtOnce(G722, 50, 10, ALL_RUNTIMES.slice(0, 2)),
  "sip-opus": callsAtOnce(OPUS, 20, 5, ALL_RUNTIMES.slice(0, 2)),
};

function callsAtOnce(codec: Codec, from: number, quick: number, runtimes = ALL_RUNTIMES) {
  return benchmark({
    options: {
      from: { meaning: "initial number of calls", value: from, quick },
      seconds: { meaning: "length of each trial", value: 10, quick: 2 },
    },
    run: (values) => withEcho((port) => insideEach(runtimes, import.meta.url, { ...values, ...codec, port })),
  });
}

/** The maximum number of calls, and of flows of the bare loop if that is the baseline. */
export const measure: Measure<Codec & { from: number; seconds: number; port: number }> = async (options) => {
  const { from, seconds, port, targets: targetNames, ...load } = options;
  const bareResult = targetNames ? undefined : await maxTrial(new BareLoop(port), from, seconds);
  if (bareResult) progress(`the bare loop: ${bareResult.count}`);
  const result = await maxTrial(new CallsLoad({ ...load, ports: [port] }), from, seconds);
  const count = result.limit === undefined ? result.count : 0;
  const window = `${percent(result.processor, 0)} of one core, ${perPacket(result)}`;
  return [
    bareResult ? againstBare(count, bareResult.count) : callsRow(count, targetNames?.[RUNTIME]),
    row(`lateness p99 with ${result.count} calls`, `${ms(result.p99)} (max ${ms(result.max)})`),
    row("packets back in the window", percent(result.received)),
    row("processor in the window", window),
    ...(bareResult ? [row("processor of the bare loop", perPacket(bareResult))] : []),
    ...(load.srtp ? await srtpCost({ port, seconds, count: result.count }) : []),
  ];
};

const RUNTIME = "Bun" in globalThis ? "bun" : "Deno" in globalThis ? "deno" : "node";

function againstBare(calls: number, flows: number) {
  const ratio = calls / flows;
  const measured = `${ratio.toFixed(2)} (${calls} against ${flows})`;
  return row("calls at once, against the bare loop", measured, "≥ 0.8", ratio >= 0.8);
}

function callsRow(calls: number, target: number | undefined) {
  if (target === undefined) return row("calls at once", `${calls}`);
  return row("calls at once", `${calls}`, `≥ ${target}`, calls >= target);
}

/** Processor time for a packet each way. */
function perPacket({ count, processor }: Trial): string {
  return `${((processor * 20_000) / count).toFixed(1)} µs per packet each way`;
}

const MAX_P99_MS = 5;
const SETTLE_MS = 1_500;

/** The trial with the maximum number of flows; a failed one if none was good. */
async function maxTrial(load: AudioLoad, first: number, seconds: number): Promise<Trial> {
  const trials: Trial[] = [];
  const options = { first, settleMs: SETTLE_MS, windowMs: seconds * 1_000, maxP99Ms: MAX_P99_MS };
  try {
    for await (const trial of ramp(load, options)) {
      const { count, p99, sent, received, underruns, processor, limit } = trial;
      progress(
        `${count}: p99 ${ms(p99)}, sent ${percent(sent)}, received ${percent(received)}, ${underruns} underruns, ` +
          `${percent(processor, 0)} of a core${limit === undefined ? "" : ` - too many: ${limit}`}`,
      );
      trials.push(trial);
    }
  } finally {
    await load.close();
  }
  return rampResult(trials).carried ?? trials.at(-1)!;
}
