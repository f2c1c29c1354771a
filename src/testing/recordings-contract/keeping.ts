import type { Recordings } from "../../ports/recordings.ts";
import type { ContractRunner } from "../contract-runner.ts";
import type { RecordingsClause, RecordingsUnderTest } from "../recordings-contract.ts";
import { until } from "../waiting.ts";
import { expectStored } from "./expect-stored.ts";
import { Take } from "./take.ts";

/** Maximum length of the audio that a crash may lose at the end, ms. */
const MAX_LOSS_MS = 2_000;
/** Maximum time until samples reach the storage, ms. */
const WRITE_MS = 10_000;

/** Recordings are kept until they are replaced or forgotten. */
export function keepingContract(
  clause: RecordingsClause,
  persistenceClause: RecordingsClause,
  expect: ContractRunner["expect"],
): void {
  clause("keeps every sample of both sides", async ({ recordings }) => {
    const take = new Take(recordings, "call_1");
    take.write(1_500);
    for (const samples of [1, 0, 333, 4_000, 7]) take.writeSamples(samples);
    expect(Math.abs(take.writer.recordedMs - take.writtenMs)).toBeLessThanOrEqual(1);
    await take.writer.finish();
    await expectStored(expect, await recordings.read("call_1"), take);
    expect(take.reasons).toEqual([]);
  });

  clause("keeps simultaneous calls apart, each at its own rate", async ({ recordings }) => {
    const takes = [8_000, 16_000, 48_000].map((rate, i) => new Take(recordings, `call_${i}`, rate, 5_000 * i));
    for (let frame = 0; frame < 60; frame++) for (const take of takes) take.write(20);
    await Promise.all(takes.map(({ writer }) => writer.finish()));
    for (const [i, take] of takes.entries()) await expectStored(expect, await recordings.read(`call_${i}`), take);
  });

  clause("finishes once, idempotently, then accepts no samples", async ({ recordings }) => {
    const take = new Take(recordings, "call_1");
    take.write(300);
    await Promise.all([take.writer.finish(), take.writer.finish()]);
    await take.writer.finish();
    const lateSamples = new Int16Array(8_000);
    take.writer.write(lateSamples, lateSamples, lateSamples.length);
    await take.writer.finish();
    await expectStored(expect, await recordings.read("call_1"), take);
    expect(Math.abs(take.writer.recordedMs - take.writtenMs)).toBeLessThanOrEqual(1);
  });

  clause("replaces an earlier recording of the call, which accepts no more samples", async ({ recordings }) => {
    const finishedTake = new Take(recordings, "call_1");
    finishedTake.write(3_000);
    await finishedTake.writer.finish();
    const unfinishedTake = new Take(recordings, "call_1", 8_000, 5_000);
    unfinishedTake.write(2_500);
    await expectStored(expect, await recordings.read("call_1"), unfinishedTake);
    const lastTake = new Take(recordings, "call_1", 16_000, 9_000);
    lastTake.write(700);
    unfinishedTake.write(2_500);
    await unfinishedTake.writer.finish();
    lastTake.write(700);
    await lastTake.writer.finish();
    await expectStored(expect, await recordings.read("call_1"), lastTake);
  });

  clause("forgets only the named recordings, including unfinished ones", async ({ recordings }) => {
    const takes = ["call_ended", "call_live", "call_other"].map((callId) => new Take(recordings, callId));
    for (const take of takes) take.write(1_500);
    await takes[0]!.writer.finish();
    await recordings.forget(["call_ended", "call_live", "call_unknown"]);
    await recordings.forget([]);
    takes[1]!.write(1_500);
    takes[2]!.write(1_500);
    for (const { writer } of takes) await writer.finish();
    expect(await recordings.read("call_ended")).toBe(undefined);
    expect(await recordings.read("call_live")).toBe(undefined);
    await expectStored(expect, await recordings.read("call_other"), takes[2]!);
    const newTake = new Take(recordings, "call_live");
    newTake.write(500);
    await newTake.writer.finish();
    await expectStored(expect, await recordings.read("call_live"), newTake);
  });

  persistenceClause("completes unfinished recordings on close, even if closed twice", async (subject) => {
    const takes = ["call_1", "call_2"].map((callId) => new Take(subject.recordings, callId));
    for (const take of takes) take.write(1_234);
    await Promise.all([subject.recordings.close(), subject.recordings.close()]);
    await subject.recordings.close();
    const recordings = await reopenRecordings(subject);
    for (const [i, take] of takes.entries()) await expectStored(expect, await recordings.read(`call_${i + 1}`), take);
  });

  persistenceClause("can be read after a crash, except for the last two seconds", async (subject) => {
    const take = new Take(subject.recordings, "call_1");
    // A crash may happen at any time.
    for (const ms of [2_500, 900, 900, 1_300, 600]) {
      take.write(ms);
      const recordings = await reopenRecordings(subject);
      await until(WRITE_MS, "Samples older than two seconds are stored", async () => {
        const recording = await recordings.read("call_1");
        return recording !== undefined && recording.durationMs >= take.writtenMs - MAX_LOSS_MS;
      });
      await expectStored(expect, await recordings.read("call_1"), take, "beginning");
    }
    await take.writer.finish();
  });
}

async function reopenRecordings(subject: RecordingsUnderTest): Promise<Recordings> {
  if (subject.reopen === undefined)
    throw new Error("reopen() is missing: add it, or state the reason as skips.forgotten");
  return subject.reopen();
}
