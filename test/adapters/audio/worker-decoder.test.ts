import { expect, test } from "vitest";
import type { AudioWorkers } from "../../../adapters/audio/audio-jobs.ts";
import { decodeJob } from "../../../adapters/audio/decode-job.ts";
import { workerDecoder } from "../../../adapters/audio/worker-decoder.ts";
import { toneWav } from "../../support/server-sound.ts";

const FILE = toneWav({ sampleRate: 16_000, ms: 327_000 });

/** Turns of the event loop before a worker gets the file. */
async function countTurns(work: (decoder: ReturnType<typeof workerDecoder>) => Promise<unknown>): Promise<number> {
  let turns = 0;
  const turn = (): void => {
    turns++;
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  let turnsBeforeWorker = Number.NaN;
  const workers: AudioWorkers = {
    async *run() {
      turnsBeforeWorker = turns;
      yield* [];
    },
  };
  await expect(work(workerDecoder(workers))).rejects.toThrow("the audio could not be decoded");
  clearImmediate(next);
  return turnsBeforeWorker;
}

test.each(["inspect", "decode"] as const)(
  "the worker decoder's %s lets the event loop turn while copying 10 MiB",
  async (task) => {
    const turns = await countTurns((decoder) =>
      task === "inspect" ? decoder.inspect(FILE, { maxDurationMs: 600_000 }) : decoder.decode(FILE, 16_000),
    );
    expect(turns).toBeGreaterThanOrEqual(10);
  },
);

test("a short WAV file is decoded without a worker, to the same samples", async () => {
  const file = toneWav({ sampleRate: 11_025, ms: 2_500 });
  const workers: AudioWorkers = {
    run() {
      throw new Error("a worker got the file");
    },
  };
  const samples = await workerDecoder(workers).decode(file, 16_000);
  const input = {
    kind: "decode",
    file: file.slice().buffer,
    format: "wav",
    sampleRate: 16_000,
    maxCpuMs: 60_000,
  } as const;
  let workerSamples: ArrayBuffer | undefined;
  await decodeJob(input, { isCancelled: () => false, emit: (buffer) => (workerSamples = buffer) });
  expect(samples.length).toBeGreaterThan(39_000);
  expect(samples).toEqual(new Int16Array(workerSamples ?? new ArrayBuffer()));
});
