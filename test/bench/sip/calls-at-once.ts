import process from "node:process";
import type { LatenessFigures } from "../../../src/audio/playout/lateness.ts";
import { benchmark, ms, percent, progress, row } from "../harness/benchmark.ts";
import { ALL_RUNTIMES, insideEach, type Measure } from "../harness/programs.ts";
import { share, timeSpent } from "../harness/resources.ts";
import { pause } from "../harness/world.ts";
import { BareLoop } from "./bare-loop.ts";
import { CallsLoad, type CallsLoadOptions } from "./calls-load.ts";
import { withEcho } from "./echo.ts";

/** Many concurrent audio flows: the bare loop, or calls. */
export interface AudioLoad {
  /** Lateness of packets, since `begin`. */
  readonly lateness: LatenessFigures;
  /** Packets sent and received, and number of underruns, since `begin`. */
  readonly sent: number;
  readonly received: number;
  readonly underruns: number;
  /** Adds flows up to this number. */
  grow(count: number): Promise<void>;
  /** Starts counting. */
  begin(): void;
  close(): Promise<void>;
}

interface Codec extends Omit<CallsLoadOptions, "port"> {
  /** Target numbers of simultaneous calls; missing for a codec that is compared with the bare loop. */
  readonly targets?: Readonly<Partial<Record<"node" | "bun" | "deno", number>>>;
}

const G711: Codec = { codec: "PCMU" };
const SRTP: Codec = { codec: "PCMU", srtp: true, targets: { node: 550, bun: 600 } };
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
  const { from, seconds, targets: targetNames, ...load } = options;
  const bareResult = targetNames ? undefined : await maxTrial(() => new BareLoop(load.port), from, seconds);
  if (bareResult) progress(`the bare loop: ${bareResult.count}`);
  const result = await maxTrial(() => new CallsLoad(load), from, seconds);
  const count = result.isGood ? result.count : 0;
  const window = `${percent(result.processor, 0)} of one core, ${perPacket(result)}`;
  return [
    bareResult ? againstBare(count, bareResult.count) : callsRow(count, targetNames?.[RUNTIME]),
    row(`lateness p99 with ${result.count} calls`, `${ms(result.p99)} (max ${ms(result.max)})`),
    row("packets back in the window", percent(result.received)),
    row("processor in the window", window),
    ...(bareResult ? [row("processor of the bare loop", perPacket(bareResult))] : []),
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

/** Figures for a number of flows. */
interface Trial {
  readonly count: number;
  readonly p99: number;
  readonly max: number;
  /** Share of the packets due in the window. */
  readonly received: number;
  /** Share of one core. */
  readonly processor: number;
  /** True if p99 is at most 5 ms, all packets were sent, 99 of 100 returned, and there was no underrun. */
  readonly isGood: boolean;
}

const MAX_P99_MS = 5;
const SETTLE_MS = 1_500;
/** Growth from one trial to the next. */
const STEP = 1.12;

/** Runs a number of flows, and measures them. */
async function runTrial(load: AudioLoad, count: number, seconds: number): Promise<Trial> {
  await load.grow(count);
  await pause(SETTLE_MS);
  load.begin();
  const timeUsed = await timeSpent(process.pid, () => pause(seconds * 1000));
  const duePackets = count * timeUsed.seconds * 50;
  const { p99, max } = load.lateness;
  const [sent, received, { underruns }] = [load.sent / duePackets, load.received / duePackets, load];
  const isGood = p99 <= MAX_P99_MS && sent > 0.995 && received > 0.99 && underruns === 0;
  const processor = share(timeUsed);
  progress(
    `${count}: p99 ${ms(p99)}, sent ${percent(sent)}, received ${percent(received)}, ${underruns} underruns, ` +
      `${percent(processor, 0)} of a core${isGood ? "" : " - too many"}`,
  );
  return { count, p99, max, received, processor, isGood };
}

/** The maximum number with a good trial: grows until a trial fails twice, then tries half a step back. */
async function maxTrial(open: () => AudioLoad, startCount: number, seconds: number): Promise<Trial> {
  let load = open();
  try {
    let bestTrial: Trial | undefined;
    for (let count = startCount; ; ) {
      let trial = await runTrial(load, count, seconds);
      if (!trial.isGood) trial = await runTrial(load, count, seconds); // other programs may have used the machine
      if (trial.isGood) {
        bestTrial = trial;
        count = Math.ceil(count * STEP);
        continue;
      }
      await load.close();
      load = open();
      if (bestTrial !== undefined) {
        const betweenTrial = await runTrial(load, Math.round((bestTrial.count + count) / 2), seconds);
        return betweenTrial.isGood ? betweenTrial : bestTrial;
      }
      if (count < 10) return trial;
      count = Math.floor(count / 2);
    }
  } finally {
    await load.close();
  }
}
