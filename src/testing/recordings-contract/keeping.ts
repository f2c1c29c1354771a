import type { Recordings } from "../../ports/recordings.ts";
import type { ContractRunner } from "../contract-runner.ts";
import type { RecordingsClause, RecordingsUnderTest } from "../recordings-contract.ts";
import { until } from "../waiting.ts";
import { expectKept } from "./kept.ts";
import { Take } from "./take.ts";

/** Maximum audio that a crash may lose at the end, ms. */
const LOST_MS = 2_000;
/** Time within which samples reach the storage, ms. */
const WRITTEN_MS = 10_000;

/** Recordings are kept until they are replaced or forgotten. */
export function keepingContract(
  clause: RecordingsClause,
  lastingClause: RecordingsClause,
  expect: ContractRunner["expect"],
): void {
  clause("keeps every sample of both sides", async ({ recordings }) => {
    const take = new Take(recordings, "call_1");
    take.write(1_500);
    for (const samples of [1, 0, 333, 4_000, 7]) take.writeSamples(samples);
    expect(Math.abs(take.writer.recordedMs - take.writtenMs)).toBeLessThanOrEqual(1);
    await take.writer.finish();
    await expectKept(expect, await recordings.read("call_1"), take);
    expect(take.reasons).toEqual([]);
  });

  clause("keeps simultaneous calls apart, each at its rate", async ({ recordings }) => {
    const takes = [8_000, 16_000, 48_000].map((rate, i) => new Take(recordings, `call_${i}`, rate, 5_000 * i));
    for (let frame = 0; frame < 60; frame++) for (const take of takes) take.write(20);
    await Promise.all(takes.map(({ writer }) => writer.finish()));
    for (const [i, take] of takes.entries()) await expectKept(expect, await recordings.read(`call_${i}`), take);
  });

  clause("finishes once, idempotently, then accepts no samples", async ({ recordings }) => {
    const take = new Take(recordings, "call_1");
    take.write(300);
    await Promise.all([take.writer.finish(), take.writer.finish()]);
    await take.writer.finish();
    const late = new Int16Array(8_000);
    take.writer.write(late, late, late.length);
    await take.writer.finish();
    await expectKept(expect, await recordings.read("call_1"), take);
    expect(Math.abs(take.writer.recordedMs - take.writtenMs)).toBeLessThanOrEqual(1);
  });

  clause("replaces an earlier recording of the call, which accepts no more samples", async ({ recordings }) => {
    const finished = new Take(recordings, "call_1");
    finished.write(3_000);
    await finished.writer.finish();
    const growing = new Take(recordings, "call_1", 8_000, 5_000);
    growing.write(2_500);
    await expectKept(expect, await recordings.read("call_1"), growing);
    const last = new Take(recordings, "call_1", 16_000, 9_000);
    last.write(700);
    growing.write(2_500);
    await growing.writer.finish();
    last.write(700);
    await last.writer.finish();
    await expectKept(expect, await recordings.read("call_1"), last);
  });

  clause("forgets only the named recordings, growing ones too", async ({ recordings }) => {
    const takes = ["call_over", "call_live", "call_other"].map((callId) => new Take(recordings, callId));
    for (const take of takes) take.write(1_500);
    await takes[0]!.writer.finish();
    await recordings.forget(["call_over", "call_live", "call_unknown"]);
    await recordings.forget([]);
    takes[1]!.write(1_500);
    takes[2]!.write(1_500);
    for (const { writer } of takes) await writer.finish();
    expect(await recordings.read("call_over")).toBe(undefined);
    expect(await recordings.read("call_live")).toBe(undefined);
    await expectKept(expect, await recordings.read("call_other"), takes[2]!);
    const again = new Take(recordings, "call_live");
    again.write(500);
    await again.writer.finish();
    await expectKept(expect, await recordings.read("call_live"), again);
  });

  lastingClause("completes growing recordings when it is closed, even twice", async (under) => {
    const takes = ["call_1", "call_2"].map((callId) => new Take(under.recordings, callId));
    for (const take of takes) take.write(1_234);
    await Promise.all([under.recordings.close(), under.recordings.close()]);
    await under.recordings.close();
    const reopened = await opened(under);
    for (const [i, take] of takes.entries()) await expectKept(expect, await reopened.read(`call_${i + 1}`), take);
  });

  lastingClause("can be read after a crash, up to two seconds before it", async (under) => {
    const take = new Take(under.recordings, "call_1");
    // A crash may happen at any time.
    for (const ms of [2_500, 900, 900, 1_300, 600]) {
      take.write(ms);
      const left = await opened(under);
      await until(WRITTEN_MS, "What is older than two seconds is kept", async () => {
        const stored = await left.read("call_1");
        return stored !== undefined && stored.durationMs >= take.writtenMs - LOST_MS;
      });
      await expectKept(expect, await left.read("call_1"), take, "beginning");
    }
    await take.writer.finish();
  });
}

async function opened(under: RecordingsUnderTest): Promise<Recordings> {
  if (under.reopen === undefined) throw new Error("reopen() is missing: add it, or the reason why all is forgotten");
  return under.reopen();
}
