import { createHash } from "node:crypto";
import process from "node:process";
import { SpeechScheduler } from "../../src/application/call-audio/speech/speech-scheduler.ts";
import { concatPcm, pcmToBytes } from "../../src/audio/samples/pcm.ts";
import { WAV_HEADER_BYTES } from "../../src/audio/wav/wav-header.ts";
import { realSystem, type Speech } from "../../src/index.ts";
import { allOf, atMost, benchmark, ms, percent, progress, row } from "./harness/benchmark.ts";
import { insideEach, type Measure } from "./harness/programs.ts";
import { share, timeSpent } from "./harness/resources.ts";
import {
  heardFile,
  ME,
  pause,
  SAMPLE_RATE,
  simulatedWorld,
  spokenCall,
  waitUntilAllAnswered,
  waitUntilAllEnded,
} from "./harness/world.ts";

const SENTENCE =
  "This is a benchmark of many calls at once; every callee has to hear each word of it, in order, in time.";
const MAX_TEXT = 4_000;
/** The only user of the engine. */
const ONLY_USER = { userId: ME.userId, instanceId: "", isPlaying: false, aheadMs: 0 };

/** Many simulated calls at once in one process, on the whole stack. */
export const SIMULATED_CALLS = benchmark({
  options: {
    calls: { meaning: "concurrent calls", value: 1000, quick: 200 },
    seconds: { meaning: "length of the window", value: 60, quick: 5 },
  },
  run: (values) => insideEach(["node26", "bun"], import.meta.url, values),
});

/**
 * Sets up the calls, measures while all of them play audio, and compares the audio that each callee heard with the
 * message.
 */
export const measure: Measure<{ calls: number; seconds: number }> = async ({ calls, seconds }) => {
  const world = await simulatedWorld();
  const { clock } = world.network;
  try {
    // Audible from the first answer to the end of the window.
    const { text, bytes } = await messageOf(world.speech, seconds + 6 + calls / 40);
    progress(`linking ${calls} numbers`);
    const instances = await world.link(calls);
    progress(`dialling ${calls} calls, each to hear ${(bytes.length / 2 / SAMPLE_RATE).toFixed(1)} s of speech`);
    const dialledAt = performance.now();
    const placedCalls = await world.place(instances.map((id) => spokenCall(id, text)));
    await waitUntilAllAnswered(world, placedCalls);
    const setUpMs = performance.now() - dialledAt;
    const setUpLateness = clock.lateness.p99;
    await pause(1000);

    progress(`all are talking; measuring for ${seconds} s`);
    clock.lateness.reset();
    const timeUsed = await timeSpent(process.pid, () => pause(seconds * 1000));
    const { frames, p50, p99, max } = clock.lateness;
    const [activeLegs, { rss }] = [clock.size, process.memoryUsage()];
    progress("waiting for the last words");
    const endedCalls = await waitUntilAllEnded(world, placedCalls);
    const hash = sha256(bytes);
    let intactCount = 0;
    for (const { id } of endedCalls) {
      const heard = (await heardFile(world, id))?.subarray(WAV_HEADER_BYTES, WAV_HEADER_BYTES + bytes.length);
      if (heard && sha256(heard) === hash) intactCount++;
    }
    const completedCount = endedCalls.filter((call) => call.outcome?.reason === "message_played").length;
    const dueFrames = calls * seconds * 50;
    return [
      allOf("calls talking through the whole window", activeLegs, calls),
      row("frames exchanged in the window", `${frames}`, `${dueFrames} ± 1 %`, Math.abs(frames / dueFrames - 1) < 0.01),
      row("lateness p50", ms(p50)),
      atMost("lateness p99", p99, 5, "ms"),
      row("lateness max", ms(max)),
      allOf("COMPLETED/message_played", completedCount, calls),
      allOf("heard intact, sample by sample", intactCount, calls),
      row("processor in the window", `${percent(share(timeUsed), 0)} of one core`),
      row("process memory in the window", `${(rss / 2 ** 20).toFixed(0)} MiB`),
      row("from the first POST to the last answer", `${(setUpMs / 1000).toFixed(1)} s`),
      row("lateness p99 during that", ms(setUpLateness)),
    ];
  } finally {
    await world.stop();
  }
};

/** A text whose speech lasts at least this long, within the maximum length, and its audio; spoken in the same slices as in a call. */
async function messageOf(
  speech: Speech,
  seconds: number,
): Promise<{ readonly text: string; readonly bytes: Uint8Array }> {
  const scheduler = new SpeechScheduler(speech, realSystem);
  let text = SENTENCE;
  for (;;) {
    const pieces: Int16Array[] = [];
    for await (const chunk of scheduler.speak(text, "en-US-1", ONLY_USER, new AbortController().signal)) {
      if (chunk.sampleRate !== SAMPLE_RATE) throw new Error(`the voice speaks at ${chunk.sampleRate} Hz`);
      pieces.push(chunk.samples);
    }
    const samples = concatPcm(pieces);
    if (samples.length >= seconds * SAMPLE_RATE || text.length + SENTENCE.length > MAX_TEXT)
      return { text, bytes: pcmToBytes(samples) };
    const repetitions = Math.max(1, Math.ceil((seconds * SAMPLE_RATE) / samples.length) - 1);
    text = [text, ...Array<string>(repetitions).fill(SENTENCE)].join(" ").slice(0, MAX_TEXT);
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
