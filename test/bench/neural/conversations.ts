import process from "node:process";
import { neuralSpeech } from "../../../adapters/local-models/neural-speech.ts";
import { neuralTranscription } from "../../../adapters/local-models/neural-transcription.ts";
import { concatPcm, msToSamples } from "../../../src/audio/samples/pcm.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import { Queue } from "../../../src/base/queue.ts";
import type { Agent, RingportOptions, Transcription, TranscriptionEvent } from "../../../src/index.ts";
import { ConversingNetwork } from "../agents/conversing-network.ts";
import { atMost, formatValue, ms, percent, progress, type Row, row } from "../harness/benchmark.ts";
import { EventLoop, type LongestTurn, stallRow } from "../harness/event-loop.ts";
import type { Measure } from "../harness/programs.ts";
import { share, timeSpent } from "../harness/resources.ts";
import { ME, pause, simulatedWorld, waitUntilAllAnswered } from "../harness/world.ts";
import { type Side, sentence, withModels, withProcesses } from "./models.ts";

/** Sample rate of telephone audio, Hz. */
const RATE = 8_000;
const WARM_UP_MS = 10_000;
const MAX_STALL_MS = 10;
const MAX_LATENESS_MS = 5;
/** Length of a reply in characters: about 5 s with the tone voice. */
const REPLY_LENGTH = 40;

/** Options of {@link measure}. */
export interface ConversationsOptions extends Side {
  readonly calls: number;
  readonly seconds: number;
}

interface Figures {
  readonly longestTurn: LongestTurn;
  readonly p99: number;
  readonly max: number;
  readonly processor: number;
  readonly texts: number;
  readonly replies: number;
  readonly active: number;
}

/**
 * Measures an agent's conversations with the models' speech and transcription, and the same conversations with flite
 * and an instant transcription.
 */
export const measure: Measure<ConversationsOptions> = async (options) => {
  const flite = await measureConversations(options, { transcription: instantTranscription() });
  const neural = await withModels(options.models, (folder) =>
    withProcesses(options, (processes) =>
      measureConversations(options, {
        speech: neuralSpeech({ folder, processes }),
        transcription: neuralTranscription(processes, { folder }),
      }),
    ),
  );
  return rowsOf(options, neural, flite);
};

function rowsOf({ calls, seconds }: ConversationsOptions, neural: Figures, flite: Figures): Row[] {
  const lateness = ({ p99, max }: Figures): string => `${ms(p99)} (max ${ms(max)})`;
  const load = ({ processor, texts, replies }: Figures): string =>
    `${percent(processor, 0)} of one core, ${formatValue(replies / seconds, "replies/s")}, ${formatValue(texts / seconds, "texts/s")}`;
  return [
    row("agent calls through the whole window", `${neural.active} of ${calls}`, "all", neural.active === calls),
    stallRow("longest stall of the event loop", neural.longestTurn, MAX_STALL_MS),
    stallRow("the same with flite and without transcription", flite.longestTurn),
    atMost("lateness p99 of the frames", neural.p99, MAX_LATENESS_MS, "ms", lateness(neural)),
    row("the same with flite and without transcription", lateness(flite)),
    row("processor of the server", load(neural)),
    row("the same with flite and without transcription", load(flite)),
  ];
}

async function measureConversations(
  { calls, seconds }: ConversationsOptions,
  engines: Pick<RingportOptions, "speech" | "transcription">,
): Promise<Figures> {
  const agent = new Narrator();
  const conversations = new ConversingNetwork(voice(), RATE, 3);
  const world = await simulatedWorld({
    simulated: { sampleRate: RATE, maxRecordingMs: 1_000 },
    wrapNetwork: (network) => conversations.withCallees(network),
    options: { agent, ...engines },
  });
  try {
    progress(`placing ${calls} calls`);
    const target = { phoneNumber: "+12025550100" };
    const instanceIds = await world.link(calls);
    const brief = { instructions: ["Keep the conversation going."] };
    const placedCalls = await world.place(
      instanceIds.map((instanceId) => ({ instanceId, type: "DYNAMIC_AGENT", target, agent: brief })),
    );
    await waitUntilAllAnswered(world, placedCalls);
    await pause(WARM_UP_MS);
    progress(`all converse; measuring for ${seconds} s`);
    const { clock } = world.network;
    const loop = new EventLoop();
    clock.lateness.reset();
    loop.start();
    [agent.texts, agent.replies] = [0, 0];
    const timeUsed = await timeSpent(process.pid, () => pause(seconds * 1_000));
    loop.stop();
    const { p99, max } = clock.lateness;
    const { elapsedMs, processorMs } = loop;
    const figures = {
      ...{ longestTurn: { elapsedMs, processorMs }, p99, max, processor: share(timeUsed) },
      ...{ texts: agent.texts, replies: agent.replies, active: clock.size },
    };
    for (const { id } of placedCalls) await world.ringport.calls.hangUp(ME, id);
    return figures;
  } finally {
    await world.stop();
  }
}

/** An agent that replies to all words with a sentence that has never been spoken before. */
class Narrator implements Agent {
  readonly name = "narrator";
  texts = 0;
  replies = 0;
  #sentenceCount = 0;

  check(): void {}

  begin(): ReturnType<Agent["begin"]> {
    const narrator = this;
    return {
      *reply({ type }) {
        if (type === "words") narrator.texts++;
        narrator.replies++;
        yield { type: "say", text: sentence(narrator.#sentenceCount++, REPLY_LENGTH), interruptible: true };
        yield { type: "listen", forMs: 5_000 };
      },
    };
  }

  async close(): Promise<void> {}
}

/** The callees' sentence, in the tones that the recogniser understands: "yes that is right". */
function voice(): Int16Array {
  const pitches = [24, 4, 18, 36, 19, 7, 0, 19, 36, 8, 18, 36, 17, 8, 6, 7, 19];
  const silence = new Int16Array(msToSamples(60, RATE));
  return concatPcm(pitches.flatMap((pitch) => [tone(400 + 60 * pitch, 60, RATE, 8_000), silence]));
}

/** Transcription at no cost: every turn has the same text. */
function instantTranscription(): Transcription {
  return {
    name: "instant",
    capabilities: { sampleRates: [RATE], endOfTurn: false, partial: false },
    async open(_options, signal) {
      const events = new Queue<TranscriptionEvent>();
      const end = (): void => events.close();
      signal.addEventListener("abort", end, { once: true });
      return {
        push() {},
        commit: () => void events.push({ type: "final", text: "yes that is right" }),
        events,
        close: async () => end(),
      };
    },
    close: async () => {},
  };
}
