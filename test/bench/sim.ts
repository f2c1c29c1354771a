import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embeddedSpeech } from "../../adapters/speech/speech.ts";
import { sqliteStorage } from "../../adapters/storage/sqlite.ts";
import { simulator } from "../../adapters/telephony/simulator/index.ts";
import { WorkerPool } from "../../adapters/workers/pool.ts";
import { concatPcm, pcmToBytes } from "../../src/audio/pcm.ts";
import { type Call, createRingport, type Principal, type Ringport, type Speech } from "../../src/index.ts";
import { type Benchmark, progress, type Row } from "./benchmark.ts";

const SAMPLE_RATE = 16_000;
const WAV_HEADER_BYTES = 44;
const ME: Principal = { userId: "usr_bench" };
const SENTENCE =
  "This is a benchmark of many calls at once; every callee has to hear each word of it, in order, in time.";

/** Many simulated calls at once in one process, on the whole stack. */
export const SIMULATED_CALLS: Benchmark = {
  title: "1,000 simulated calls at once, 20 ms frames both ways",
  method: `All calls in one process on the whole stack: use cases, SQLite, dispatcher, sessions, playout, clock.

- the window begins one second after the last call has become \`IN_PROGRESS\`
- lateness: how much later than its place on the absolute 20 ms schedule a frame was exchanged, both directions
- intact: calls whose recording at the far end begins with exactly the samples of the rendered message (SHA-256), so
  one gap, repeat or underrun anywhere in it counts as a miss`,
  options: {
    calls: { says: "calls at once", value: 1000, quick: 200 },
    seconds: { says: "length of the window", value: 60, quick: 5 },
  },
  run: ({ calls = 0, seconds = 0 }) => benchSimulator(calls, seconds),
};

async function benchSimulator(calls: number, seconds: number): Promise<Row[]> {
  const data = await mkdtemp(join(tmpdir(), "ringport-bench-"));
  const network = simulator({ spoolDir: join(data, "recordings"), sampleRate: SAMPLE_RATE, maxSpoolBytes: 2 ** 36 });
  const speech = embeddedSpeech({ pool: new WorkerPool() });
  const ringport = createRingport({
    data,
    storage: sqliteStorage({ path: join(data, "bench.sqlite") }),
    telephony: network,
    speech,
  });
  try {
    await ringport.start();
    const { text, hash, bytes } = await messageOf(speech, seconds + 30);
    progress(`linking ${calls} numbers`);
    const instances = await Promise.all(Array.from({ length: calls }, (_, n) => linkedInstance(ringport, n)));
    progress(`dialling ${calls} calls, each to hear ${(bytes / 2 / SAMPLE_RATE).toFixed(1)} s of speech`);
    const dialled = performance.now();
    const placed = await inTurns(instances, 50, (instanceId) => place(ringport, instanceId, text));
    for (const { id } of placed) await talking(ringport, id);
    const setUpMs = performance.now() - dialled;
    const setUpLateness = network.clock.lateness.p99;
    await pause(1000);

    progress(`all are talking; measuring for ${seconds} s`);
    network.clock.lateness.reset();
    const cpuBefore = process.cpuUsage();
    await pause(seconds * 1000);
    const { frames, p50, p99, max } = network.clock.lateness;
    const stillTalking = network.clock.size;
    const cpu = process.cpuUsage(cpuBefore);
    const memory = process.memoryUsage().rss;

    progress("waiting for the last words");
    const ended = await Promise.all(placed.map((call) => ringport.calls.wait(call.id)));
    const intact = await countIntact(network, ended, bytes, hash);
    const completed = ended.filter((call) => call.outcome?.reason === "message_played").length;
    return [
      {
        what: "calls talking through the whole window",
        measured: `${stillTalking} of ${calls}`,
        wanted: "all",
        reached: stillTalking === calls,
      },
      {
        what: "frames exchanged in the window",
        measured: `${frames}`,
        wanted: `${calls * seconds * 50} ± 1 %`,
        reached: Math.abs(frames / (calls * seconds * 50) - 1) < 0.01,
      },
      { what: "lateness p50", measured: `${p50.toFixed(1)} ms` },
      { what: "lateness p99", measured: `${p99.toFixed(1)} ms`, wanted: "≤ 5 ms", reached: p99 <= 5 },
      { what: "lateness max", measured: `${max.toFixed(1)} ms` },
      {
        what: "COMPLETED/message_played",
        measured: `${completed} of ${calls}`,
        wanted: "all",
        reached: completed === calls,
      },
      {
        what: "heard intact, sample by sample",
        measured: `${intact} of ${calls}`,
        wanted: "all",
        reached: intact === calls,
      },
      {
        what: "processor in the window",
        measured: `${(((cpu.user + cpu.system) / 1e6 / seconds) * 100).toFixed(0)} % of one core`,
      },
      { what: "process memory in the window", measured: `${(memory / 2 ** 20).toFixed(0)} MiB` },
      { what: "from the first POST to the last answer", measured: `${(setUpMs / 1000).toFixed(1)} s` },
      { what: "lateness p99 during that", measured: `${setUpLateness.toFixed(1)} ms` },
    ];
  } finally {
    await ringport.stop({ drainMs: 0 });
    await rm(data, { recursive: true, force: true });
  }
}

async function messageOf(speech: Speech, seconds: number): Promise<{ text: string; hash: string; bytes: number }> {
  let text = SENTENCE;
  for (;;) {
    const pieces: Int16Array[] = [];
    for await (const chunk of speech.speak(text, "en-US-1", new AbortController().signal)) {
      if (chunk.sampleRate !== SAMPLE_RATE) throw new Error(`the voice speaks at ${chunk.sampleRate} Hz`);
      pieces.push(chunk.samples);
    }
    const samples = concatPcm(pieces);
    if (samples.length >= seconds * SAMPLE_RATE || text.length + SENTENCE.length > 4000) {
      const message = pcmToBytes(samples);
      return { text, hash: createHash("sha256").update(message).digest("hex"), bytes: message.length };
    }
    const more = Math.ceil((seconds * SAMPLE_RATE) / samples.length) - 1;
    text = [text, ...Array.from({ length: Math.max(1, more) }, () => SENTENCE)].join(" ").slice(0, 4000);
  }
}

async function linkedInstance(ringport: Ringport, number: number): Promise<string> {
  const { id } = await ringport.instances.create(ME, { name: `bench ${number}` });
  const { payload } = await ringport.instances.configure(ME, id);
  const page = await ringport.handle({ method: "POST", url: payload, headers: new Headers(), body: null });
  if (page.status !== 200) throw new Error(`linking answered ${page.status}`);
  for (;;) {
    const { status } = await ringport.instances.get(ME, id);
    if (status === "ACTIVE") return id;
    await pause(50);
  }
}

function place(ringport: Ringport, instanceId: string, text: string): Promise<Call> {
  const target = { phoneNumber: "+12025550100" };
  return ringport.calls.create(ME, { instanceId, type: "FIXED_TTS", target, tts: { text, voiceId: "en-US-1" } });
}

async function countIntact(
  network: ReturnType<typeof simulator>,
  calls: readonly Call[],
  bytes: number,
  hash: string,
): Promise<number> {
  let intact = 0;
  for (const call of calls) {
    const body = (await network.pages.artefact(call.id, "heard.wav"))?.body;
    if (!(body instanceof Uint8Array)) continue;
    const heard = body.subarray(WAV_HEADER_BYTES, WAV_HEADER_BYTES + bytes);
    if (createHash("sha256").update(heard).digest("hex") === hash) intact++;
  }
  return intact;
}

async function inTurns<T, R>(items: readonly T[], atOnce: number, run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += atOnce)
    results.push(...(await Promise.all(items.slice(at, at + atOnce).map(run))));
  return results;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function talking(ringport: Ringport, callId: string): Promise<void> {
  for await (const event of ringport.calls.events(callId)) if (event.type === "answered") return;
  throw new Error(`call ${callId} ended before it was answered`);
}
