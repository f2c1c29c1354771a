import { benchmark, type Row } from "../harness/benchmark.ts";
import { ALL_RUNTIMES, insideEach } from "../harness/programs.ts";
import type { ConversationsOptions } from "./conversations.ts";
import type { FirstAudioOptions } from "./first-audio.ts";
import { idleServer } from "./idle-server.ts";
import { type Side, titleOf } from "./models.ts";
import type { OverheadOptions } from "./overhead.ts";
import type { RecyclingOptions } from "./recycling.ts";

const TONES: Side = { models: "tones", engine: "sherpa-onnx-node" };
const TONES_IN_WASM: Side = { models: "tones", engine: "sherpa-onnx" };
const FULL_SIZE: Side = { models: "full-size", engine: "sherpa-onnx-node" };
const FULL_SIZE_IN_WASM: Side = { models: "full-size", engine: "sherpa-onnx" };
/** Number of streams that a full-size recogniser can transcribe on one core, alongside the calls. */
const FULL_SIZE_STREAMS = 8;
/** Factor by which the larger models take longer for a sentence. */
const FULL_SIZE_SHARE = 20;
/** A limit that the larger models reach within a few sentences, MiB. */
const SMALL_LIMIT_MIB = 128;

/** Speech and transcripts by models on this machine: their cost for the server and its calls. */
export const NEURAL = benchmark({
  options: {
    calls: { meaning: "calls that are spoken to and transcribed", value: 50, quick: 10 },
    seconds: { meaning: "length of the calls' window", value: 60, quick: 10 },
    rounds: { meaning: "rounds of the processor time", value: 3, quick: 1 },
    speech: { meaning: "speech in each of them, s", value: 10, quick: 5 },
    texts: { meaning: "texts whose first audio is timed", value: 60, quick: 10 },
    starts: { meaning: "starts of each idle server", value: 5, quick: 1 },
    sentences: { meaning: "sentences in a row", value: 3_000, quick: 150 },
  },
  async run({ calls, seconds, rounds, speech, texts, starts, sentences }) {
    const rows: Row[] = [];
    const add = async (module: string, side: Side, runtimes: typeof ALL_RUNTIMES, options: object): Promise<void> => {
      const measured = await insideEach(runtimes, new URL(module, import.meta.url).href, { ...side, ...options });
      for (const row of measured) rows.push({ ...row, figure: `${row.figure} (${titleOf(side)})` });
    };
    const overhead = { rounds, seconds: speech } satisfies Partial<OverheadOptions>;
    await add("./overhead.ts", TONES, ALL_RUNTIMES, { ...overhead, streams: [1, calls] });
    await add("./overhead.ts", TONES_IN_WASM, ["node26"], { ...overhead, streams: [1] });
    await add("./overhead.ts", FULL_SIZE, ["node26"], {
      ...overhead,
      streams: [1, Math.min(calls, FULL_SIZE_STREAMS)],
    });
    const conversations = { calls, seconds } satisfies Partial<ConversationsOptions>;
    await add("./conversations.ts", TONES, ALL_RUNTIMES, conversations);
    await add("./conversations.ts", FULL_SIZE, ["node26"], conversations);
    const firstAudio = { rounds: texts } satisfies Partial<FirstAudioOptions>;
    await add("./first-audio.ts", TONES, ALL_RUNTIMES, firstAudio);
    for (const side of [TONES_IN_WASM, FULL_SIZE, FULL_SIZE_IN_WASM])
      await add("./first-audio.ts", side, ["node26"], firstAudio);
    rows.push(...(await idleServer(starts)));
    const recycling = { sentences } satisfies Partial<RecyclingOptions>;
    for (const side of [TONES, TONES_IN_WASM]) await add("./recycling.ts", side, ["node26"], recycling);
    const fewerSentences = Math.ceil(sentences / FULL_SIZE_SHARE);
    await add("./recycling.ts", FULL_SIZE, ["node26"], { sentences: fewerSentences, memoryMb: SMALL_LIMIT_MIB });
    return rows;
  },
});
