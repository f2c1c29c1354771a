import { createHash } from "node:crypto";
import process from "node:process";
import { SpeechScheduler } from "../../src/application/call-audio/speech/speech-scheduler.ts";
import { concatPcm, pcmToBytes } from "../../src/audio/samples/pcm.ts";
import { WAV_HEADER_BYTES } from "../../src/audio/wav/wav-header.ts";
import { type Call, realSystem, type Speech } from "../../src/index.ts";
import { progress, type Row } from "./benchmark.ts";
import {
  answered,
  heardFile,
  type ManyCalls,
  ME,
  pause,
  SAMPLE_RATE,
  spokenCall,
  startManyCalls,
} from "./many-calls.ts";
import type { Measurable } from "./under-runtime.ts";

const SENTENCE =
  "This is a benchmark of many calls at once; every callee has to hear each word of it, in order, in time.";

/** No other call uses the engine. */
const ALONE = { userId: ME.userId, instanceId: "", playing: false, aheadMs: 0 };

/** Audio that every callee should hear. */
interface SpokenMessage {
  readonly text: string;
  readonly bytes: number;
  /** SHA-256 of its samples. */
  readonly hash: string;
}

/** Results within the window. */
interface Window {
  readonly frames: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly stillTalking: number;
  /** Share of one core. */
  readonly cpu: number;
  readonly rssBytes: number;
}

/** Sets the calls up, measures while all of them talk, and listens to what each callee heard. */
export const measure: Measurable["measure"] = async ({ calls = 0, seconds = 0 }) => {
  const world = await startManyCalls();
  const { ringport, network, speech } = world;
  try {
    // Long enough to be heard from the first answer to the end of the window.
    const message = await messageOf(speech, seconds + 6 + calls / 40);
    progress(`linking ${calls} numbers`);
    const instances = await world.link(calls);
    progress(`dialling ${calls} calls, each to hear ${(message.bytes / 2 / SAMPLE_RATE).toFixed(1)} s of speech`);
    const dialled = performance.now();
    const placed = await world.place(instances.map((id) => spokenCall(id, message.text)));
    for (const { id } of placed) await answered(ringport, id);
    const setUpMs = performance.now() - dialled;
    const setUpLateness = network.clock.lateness.p99;
    await pause(1000);

    progress(`all are talking; measuring for ${seconds} s`);
    const window = await watch(world, seconds);
    progress("waiting for the last words");
    const ended = await Promise.all(placed.map((call) => ringport.calls.wait(ME, call.id)));
    const intact = await countIntact(world, ended, message);
    const completed = ended.filter((call) => call.outcome?.reason === "message_played").length;
    return [
      all("calls talking through the whole window", window.stillTalking, calls),
      {
        what: "frames exchanged in the window",
        measured: `${window.frames}`,
        wanted: `${calls * seconds * 50} ± 1 %`,
        reached: Math.abs(window.frames / (calls * seconds * 50) - 1) < 0.01,
      },
      { what: "lateness p50", measured: ms(window.p50) },
      { what: "lateness p99", measured: ms(window.p99), wanted: "≤ 5 ms", reached: window.p99 <= 5 },
      { what: "lateness max", measured: ms(window.max) },
      all("COMPLETED/message_played", completed, calls),
      all("heard intact, sample by sample", intact, calls),
      { what: "processor in the window", measured: `${(window.cpu * 100).toFixed(0)} % of one core` },
      { what: "process memory in the window", measured: `${(window.rssBytes / 2 ** 20).toFixed(0)} MiB` },
      { what: "from the first POST to the last answer", measured: `${(setUpMs / 1000).toFixed(1)} s` },
      { what: "lateness p99 during that", measured: ms(setUpLateness) },
    ];
  } finally {
    await world.stop();
  }
};

async function watch({ network }: ManyCalls, seconds: number): Promise<Window> {
  const { lateness } = network.clock;
  lateness.reset();
  const before = process.cpuUsage();
  await pause(seconds * 1000);
  const { user, system } = process.cpuUsage(before);
  const { frames, p50, p99, max } = lateness;
  const cpu = (user + system) / 1e6 / seconds;
  return { frames, p50, p99, max, cpu, stillTalking: network.clock.size, rssBytes: process.memoryUsage().rss };
}

/** A text that takes at least this long to speak, up to the maximum length, in the same slices as in a call. */
async function messageOf(speech: Speech, seconds: number): Promise<SpokenMessage> {
  const scheduler = new SpeechScheduler(speech, realSystem);
  let text = SENTENCE;
  for (;;) {
    const pieces: Int16Array[] = [];
    for await (const chunk of scheduler.speak(text, "en-US-1", ALONE, new AbortController().signal)) {
      if (chunk.sampleRate !== SAMPLE_RATE) throw new Error(`the voice speaks at ${chunk.sampleRate} Hz`);
      pieces.push(chunk.samples);
    }
    const samples = concatPcm(pieces);
    if (samples.length >= seconds * SAMPLE_RATE || text.length + SENTENCE.length > 4000) {
      const message = pcmToBytes(samples);
      return { text, bytes: message.length, hash: sha256(message) };
    }
    const more = Math.ceil((seconds * SAMPLE_RATE) / samples.length) - 1;
    text = [text, ...Array.from({ length: Math.max(1, more) }, () => SENTENCE)].join(" ").slice(0, 4000);
  }
}

async function countIntact(world: ManyCalls, calls: readonly Call[], { bytes, hash }: SpokenMessage): Promise<number> {
  let intact = 0;
  for (const call of calls) {
    const file = await heardFile(world, call.id);
    if (file && sha256(file.subarray(WAV_HEADER_BYTES, WAV_HEADER_BYTES + bytes)) === hash) intact++;
  }
  return intact;
}

function all(what: string, count: number, calls: number): Row {
  return { what, measured: `${count} of ${calls}`, wanted: "all", reached: count === calls };
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
