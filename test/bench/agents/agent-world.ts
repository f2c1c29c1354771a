import { cascadeAgent } from "../../../adapters/agent/index.ts";
import { embeddedWorkers } from "../../../adapters/embedded/worker-pool.ts";
import { embeddedSpeech } from "../../../adapters/speech/embedded-engines.ts";
import { httpSpeech } from "../../../adapters/speech/http-speech.ts";
import { openaiTranscription } from "../../../adapters/transcription/index.ts";
import { concatPcm } from "../../../src/audio/samples/pcm.ts";
import { resampleStream } from "../../../src/audio/samples/resample-stream.ts";
import type { CreateCallInput, Transcription } from "../../../src/index.ts";
import { type ManyCalls, startManyCalls } from "../many-calls.ts";
import { ConversingNetwork } from "./conversing-network.ts";

/** Sample rate of the legs, Hz: that of G.711. */
export const LEG_RATE = 8_000;

/** A Ringport with agent, transcription and speech of one provider. */
export interface AgentWorld {
  readonly world: ManyCalls;
  readonly conversations: ConversingNetwork;
}

/** Options of {@link startAgents}. */
export interface AgentWorldOptions {
  readonly baseUrl: string;
  /** Every n-th reply of the agent is interrupted. */
  readonly interruptsEvery: number;
  /** Puts something between Ringport and the transcription. */
  readonly through?: (transcription: Transcription) => Transcription;
}

export async function startAgents(options: AgentWorldOptions): Promise<AgentWorld> {
  const { baseUrl, interruptsEvery, through = (transcription) => transcription } = options;
  const conversations = new ConversingNetwork(await sentence(), LEG_RATE, interruptsEvery);
  const world = await startManyCalls({
    simulated: { sampleRate: LEG_RATE, maxRecordingMs: 1_000 },
    through: (network) => conversations.of(network),
    more: {
      agent: cascadeAgent({ baseUrl, model: "instant", maxTurns: 1_000_000 }),
      transcription: through(openaiTranscription({ baseUrl, model: "instant" })),
      speech: httpSpeech({ baseUrl, model: "instant", voices: { "en-US-1": { voice: "instant" } }, atOnce: 32 }),
    },
  });
  return { world, conversations };
}

/** A call to a callee that answers and listens; its speech comes from the {@link ConversingNetwork}. */
export function agentCall(instanceId: string): CreateCallInput {
  return {
    instanceId,
    type: "DYNAMIC_AGENT",
    target: { phoneNumber: "+12025550100" },
    agent: { instructions: ["Keep the conversation going."] },
  };
}

/** The callees' speech: a recorded sentence. */
async function sentence(): Promise<Int16Array> {
  const pool = embeddedWorkers();
  try {
    const speech = embeddedSpeech({ pool });
    const pieces: Int16Array[] = [];
    const spoken = speech.speak("Yes, that is right.", "en-US-2", new AbortController().signal);
    for await (const samples of resampleStream(spoken, LEG_RATE)) pieces.push(samples);
    return concatPcm(pieces);
  } finally {
    await pool.close();
  }
}
