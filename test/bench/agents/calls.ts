import process from "node:process";
import { cascadeAgent } from "../../../adapters/agent/index.ts";
import { embeddedWorkers } from "../../../adapters/defaults/worker-pool.ts";
import { embeddedSpeech } from "../../../adapters/speech/all-engines.ts";
import { httpSpeech } from "../../../adapters/speech/http-speech.ts";
import { openaiTranscription } from "../../../adapters/transcription/index.ts";
import { concatPcm } from "../../../src/audio/samples/pcm.ts";
import { resampleStream } from "../../../src/audio/samples/resample-stream.ts";
import { END_OF_TURN_MS } from "../../../src/domain/agents/end-of-turn.ts";
import type { Transcription, TranscriptionSession } from "../../../src/index.ts";
import { atMost, benchmark, ms, percent, progress, quantile, type Row, row } from "../harness/benchmark.ts";
import { ALL_RUNTIMES, commandOf, insideEach, type Measure, runtimeNamed, startProgram } from "../harness/programs.ts";
import { share, timeSpent } from "../harness/resources.ts";
import { ME, pause, type SimulatedWorld, simulatedWorld, waitUntilAllAnswered } from "../harness/world.ts";
import { ConversingNetwork } from "./conversing-network.ts";
import { numberIn, startProvider } from "./provider.ts";

/** Sample rate of the legs, Hz, as in G.711. */
const LEG_RATE = 8_000;
/** Duration after which most code has been compiled. */
const WARM_UP_MS = 10_000;
const TARGET_CALLS = 150;

/** Latency that Ringport adds to its providers' latency. */
export const AGENT_LATENCY = benchmark({
  options: {
    calls: { meaning: "concurrent calls", value: 10, quick: 5 },
    seconds: { meaning: "length of the window", value: 60, quick: 15 },
  },
  run: (values) => insideEach(ALL_RUNTIMES, import.meta.url, { ...values, kind: "latency" }),
});

/** Many concurrent agent calls in one process, with their provider in another. */
export const AGENT_CALLS = benchmark({
  options: {
    calls: { meaning: "concurrent calls", value: TARGET_CALLS, quick: 40 },
    seconds: { meaning: "length of the window", value: 60, quick: 10 },
  },
  run: (values) => insideEach(ALL_RUNTIMES, import.meta.url, { ...values, kind: "load" }),
});

interface Options {
  readonly calls: number;
  readonly seconds: number;
}

export const measure: Measure<Options & { kind: "latency" | "load" }> = ({ kind, ...options }) =>
  kind === "latency" ? latency(options) : load(options);

async function latency(options: Options): Promise<Row[]> {
  const provider = await startProvider();
  /** Turn numbers of each call, in order. */
  const numbers = new Map<string, number[]>();
  const { baseUrl, turns } = provider;
  const observe = (transcription: Transcription) => recordTurns(transcription, numbers);
  try {
    return await whileConversing(baseUrl, 2, options, observe, async ({ conversations }) => {
      conversations.interruptions.length = 0;
      const warmUpTurns = conversations.turns.length;
      await pause(options.seconds * 1_000);
      const interruptions = [...conversations.interruptions];
      const overheadsMs: number[] = [];
      const addedMs: number[] = [];
      const nextTurnIndexes = new Map<string, number>();
      for (const [index, { callId, endedAt, heardAt }] of conversations.turns.entries()) {
        const turnIndex = nextTurnIndexes.get(callId) ?? 0;
        nextTurnIndexes.set(callId, turnIndex + 1);
        const turn = turns.get(numbers.get(callId)?.[turnIndex] ?? 0);
        if (turn === undefined || index < warmUpTurns) continue;
        overheadsMs.push(heardAt - turn.speechAt);
        addedMs.push(heardAt - endedAt - END_OF_TURN_MS - turn.transcriptionMs - turn.chatMs - turn.speechMs);
      }
      return [
        latencyRow("from the first byte of speech to the first audible frame, p95", overheadsMs, 40),
        latencyRow("turn gap beyond end of turn and providers, p95", addedMs, 60),
        latencyRow("from the callee's voice to the agent's last frame, p95", interruptions, 260),
      ];
    });
  } finally {
    await provider.close();
  }
}

function latencyRow(figure: string, values: readonly number[], limit: number): Row {
  const p95 = quantile(values, 0.95);
  const details = `p50 ${quantile(values, 0.5).toFixed(1)}, max ${ms(quantile(values, 1))}, ${values.length} times`;
  return atMost(figure, p95, limit, "ms", `${ms(p95)} (${details})`);
}

async function load(options: Options): Promise<Row[]> {
  const provider = startProgram(commandOf(runtimeNamed("node26"), new URL("./provider.ts", import.meta.url).href, []));
  const { calls, seconds } = options;
  try {
    const baseUrl = await provider.line();
    return await whileConversing(baseUrl, 3, options, undefined, async ({ world, conversations }) => {
      const { clock } = world.network;
      clock.lateness.reset();
      const warmUpTurns = conversations.turns.length;
      const timeUsed = await timeSpent(process.pid, () => pause(seconds * 1_000));
      const { frames, p50, p99, max } = clock.lateness;
      const [size, turns] = [clock.size, conversations.turns.length - warmUpTurns];
      const isComplete = size === calls && calls >= TARGET_CALLS;
      const dueFrames = calls * seconds * 50;
      const micros = (share(timeUsed) * 1e6) / (calls * 50);
      return [
        row("agent calls at once", `${size} of ${calls}`, `≥ ${TARGET_CALLS}, all of them`, isComplete),
        atMost("lateness p99 of the frames", p99, 10, "ms", `${ms(p99)} (p50 ${ms(p50)}, max ${ms(max)})`),
        row(
          "frames exchanged in the window, of those due",
          percent(frames / dueFrames),
          "≥ 99 %",
          frames >= 0.99 * dueFrames,
        ),
        row("turns of the conversations", `${(turns / seconds).toFixed(1)}/s`),
        row(
          "processor in the window",
          `${percent(share(timeUsed), 0)} of one core, ${micros.toFixed(1)} µs per call and frame`,
        ),
        row("process memory", `${(process.memoryUsage().rss / 2 ** 20).toFixed(0)} MiB`),
      ];
    });
  } finally {
    await provider.end();
  }
}

interface ConversingWorld {
  readonly world: SimulatedWorld;
  readonly conversations: ConversingNetwork;
}

/**
 * Runs agent conversations through one provider of model, transcription and speech, and measures them after warm-up.
 */
async function whileConversing(
  baseUrl: string,
  interruptsEvery: number,
  { calls, seconds }: Options,
  wrapTranscription: ((transcription: Transcription) => Transcription) | undefined,
  run: (conversing: ConversingWorld) => Promise<Row[]>,
): Promise<Row[]> {
  const conversations = new ConversingNetwork(await sentence(), LEG_RATE, interruptsEvery);
  const transcription = openaiTranscription({ baseUrl, model: "instant" });
  const world = await simulatedWorld({
    simulated: { sampleRate: LEG_RATE, maxRecordingMs: 1_000 },
    wrapNetwork: (network) => conversations.withCallees(network),
    options: {
      agent: cascadeAgent({ baseUrl, model: "instant", maxTurns: 1_000_000 }),
      transcription: wrapTranscription ? wrapTranscription(transcription) : transcription,
      speech: httpSpeech({ baseUrl, model: "instant", voices: { "en-US-1": { voice: "instant" } }, atOnce: 32 }),
    },
  });
  try {
    progress(`placing ${calls} calls`);
    const agent = { instructions: ["Keep the conversation going."] };
    const target = { phoneNumber: "+12025550100" };
    const instanceIds = await world.link(calls);
    const placedCalls = await world.place(
      instanceIds.map((instanceId) => ({ instanceId, type: "DYNAMIC_AGENT", target, agent })),
    );
    await waitUntilAllAnswered(world, placedCalls);
    await pause(WARM_UP_MS);
    progress(`all converse; measuring for ${seconds} s`);
    const rows = await run({ world, conversations });
    for (const { id } of placedCalls) await world.ringport.calls.hangUp(ME, id);
    return rows;
  } finally {
    await world.stop();
  }
}

/** The callees' sentence: real speech. */
async function sentence(): Promise<Int16Array> {
  const pool = embeddedWorkers();
  try {
    const speech = embeddedSpeech({ pool }).speak("Yes, that is right.", "en-US-2", new AbortController().signal);
    return concatPcm(await Array.fromAsync(resampleStream(speech, LEG_RATE)));
  } finally {
    await pool.close();
  }
}

/** Wraps a transcription; records each call's turn numbers. */
function recordTurns(transcription: Transcription, numbers: Map<string, number[]>): Transcription {
  return {
    name: transcription.name,
    capabilities: transcription.capabilities,
    close: () => transcription.close(),
    async open(options, signal): Promise<TranscriptionSession> {
      const session = await transcription.open(options, signal);
      const turns: number[] = [];
      numbers.set(options.callId, turns);
      return {
        push: (samples, atMs) => session.push(samples, atMs),
        commit: () => session.commit(),
        close: () => session.close(),
        events: (async function* () {
          for await (const event of session.events) {
            if (event.type === "final") turns.push(numberIn(event.text));
            yield event;
          }
        })(),
      };
    },
  };
}
