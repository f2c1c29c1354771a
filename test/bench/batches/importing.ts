import process from "node:process";
import type { CreateBatchInput } from "../../../src/domain/batches/batch-input.ts";
import { csvTargets } from "../../../src/domain/batches/target-rows.ts";
import { allOf, atMost, inRounds, median, ms, progress, type Row, ratioOf, row } from "../harness/benchmark.ts";
import { EventLoop, stallRow } from "../harness/event-loop.ts";
import type { Measure } from "../harness/programs.ts";
import { untilIdle } from "../harness/resources.ts";
import { ME, type SimulatedWorld, simulatedWorld } from "../harness/world.ts";

const SMALL_COUNT = 100;
const PAGE = 50;
/** Size of one chunk of the file, bytes. */
const CHUNK = 64 * 1024;
/** Number of reads per side in a round. */
const READS = 100;
const MIB = 2 ** 20;
const MAX_STALL_MS = 20;
const MEMORY_SAMPLE_MS = 50;

/** Imports a file into a draft, then compares its pages and counts with those of a small batch. */
export const measure: Measure<{ rows: number; rounds: number }> = async ({ rows, rounds }) => {
  const world = await simulatedWorld();
  try {
    const [instanceId = ""] = await world.link(1);
    const smallBatchId = await createDraft(world, instanceId);
    await importRows(world, smallBatchId, SMALL_COUNT); // compiles the code of imports
    const largeBatchId = await createDraft(world, instanceId);
    await untilIdle(process.pid);
    progress(`importing ${rows} rows`);
    const loop = new EventLoop();
    const memoryBefore = process.memoryUsage().rss;
    let peak = memoryBefore;
    const sampleTimer = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, MEMORY_SAMPLE_MS);
    const [cpuBefore, startedAt] = [process.cpuUsage(), performance.now()];
    loop.start();
    const storedRows = await importRows(world, largeBatchId, rows);
    loop.stop();
    const seconds = (performance.now() - startedAt) / 1000;
    const { user, system } = process.cpuUsage(cpuBefore);
    clearInterval(sampleTimer);
    const compare = async (figure: string, read: (id: string) => Promise<unknown>): Promise<Row> => {
      const side = (id: string) => async () => {
        const from = process.cpuUsage();
        for (let n = 0; n < READS; n++) await read(id);
        const { user, system } = process.cpuUsage(from);
        return (user + system) / 1000 / READS;
      };
      const times = await inRounds(rounds, { large: side(largeBatchId), small: side(smallBatchId) });
      const ratio = ratioOf(times.large, times.small);
      const measured = `${ratio.toFixed(2)} × (${ms(median(times.large), 2)} against ${ms(median(times.small), 2)})`;
      return row(`${figure}, against ${SMALL_COUNT} targets`, measured, "≤ 1.5 ×", ratio <= 1.5);
    };
    return [
      allOf("rows stored as WAITING", storedRows, rows),
      atMost("processor time of the import", (user + system) / 1e6, 15, "s"),
      row("elapsed time of the import", `${seconds.toFixed(1)} s`),
      atMost("memory above the start", (peak - memoryBefore) / MIB, 64, "MiB"),
      stallRow("longest stall of the event loop", loop, MAX_STALL_MS),
      await compare("one page of targets", (id) => world.ringport.batches.targets(ME, id, {}, { limit: PAGE })),
      await compare("the batch with its counts", (id) => world.ringport.batches.get(ME, id)),
    ];
  } finally {
    await world.stop();
  }
};

/** Creates a draft; returns its id. */
async function createDraft({ ringport }: SimulatedWorld, instanceId: string): Promise<string> {
  const input: CreateBatchInput = {
    name: "bench",
    instanceIds: [instanceId],
    message: { type: "FIXED_TTS", tts: { text: "Hello {{name}}, your order {{order}} is ready.", voiceId: "en-US-1" } },
  };
  return (await ringport.batches.create(ME, input)).id;
}

/** Imports a CSV file; returns the number of targets that wait for their call. */
async function importRows({ ringport }: SimulatedWorld, id: string, rows: number): Promise<number> {
  const { stored } = await ringport.batches.addTargets(ME, id, csvTargets(csvFile(rows)));
  return stored.WAITING ?? 0;
}

/** A file with a header, in chunks. */
async function* csvFile(rows: number): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let text = "phone,name,order\n";
  for (let n = 0; n < rows; n++) {
    text += `+1202${String(2_000_000 + n)},"Ada, ${n}",${n}\n`;
    if (text.length < CHUNK) continue;
    yield encoder.encode(text);
    text = "";
  }
  yield encoder.encode(text);
}
