import { INCOMPLETE_REASONS } from "../domain/events.ts";
import type { Recordings } from "../ports/recordings.ts";
import { clausesOf } from "./contract-clause.ts";
import type { ContractRunner } from "./contract-runner.ts";
import { expectStored } from "./recordings-contract/expect-stored.ts";
import { keepingContract } from "./recordings-contract/keeping.ts";
import { readingContract } from "./recordings-contract/reading.ts";
import { Take } from "./recordings-contract/take.ts";
import { until } from "./waiting.ts";

/** The recordings under test, new and empty for each test. */
export interface RecordingsUnderTest {
  readonly recordings: Recordings;
  /**
   * The recordings as a new process finds them, after this process has closed them or has died. Omit it if the
   * recordings are `forgotten`.
   */
  reopen?(): Promise<Recordings>;
  /** Recordings whose disk is full after a second or two. Omit it if they are `infallible`. */
  full?(): Recordings;
  /** Called after the recordings have been closed. Closes what `reopen` has opened, and removes everything. */
  close(): Promise<void>;
}

/** Reasons why parts of the contract cannot be tested; their tests are skipped with these reasons. */
export interface RecordingsSkips {
  /** Reason why closing loses the recordings. */
  readonly forgotten?: string;
  /** Reason why writing and reading cannot fail. */
  readonly infallible?: string;
}

/** Registers one rule of the contract with its test. */
export type RecordingsClause = (title: string, body: (subject: RecordingsUnderTest) => Promise<void>) => void;

/**
 * The contract of the recordings port as tests.
 * @param name title of the group of tests
 * @param factory creates the recordings; called once per test
 * @param skips the parts to skip, with the reasons
 *
 * @example
 * import { describe, expect, test } from "vitest";
 * recordingsContract("my recordings", () => freshRecordings(), { describe, test, expect });
 */
export function recordingsContract(
  name: string,
  factory: () => Promise<RecordingsUnderTest>,
  { describe, test, expect }: ContractRunner,
  skips: RecordingsSkips = {},
): void {
  const clause = clausesOf(test, factory, ({ recordings }) => recordings);
  const unlessSkipped =
    (reason: string | undefined): RecordingsClause =>
    (title, body) =>
      reason === undefined ? clause(title, body) : test.skip(`${title} (skipped: ${reason})`, async () => {});

  describe(`${name} fulfil the recordings contract`, () => {
    describe("keeping", () => keepingContract(clause, unlessSkipped(skips.forgotten), expect));
    describe("reading", () => readingContract(clause, expect));
    describe("faults", () => faultsContract(unlessSkipped(skips.infallible), expect));
  });
}

/** Maximum time for reporting a fault, ms. */
const REPORT_MS = 10_000;
/** Length of audio that exceeds the capacity of the disk, ms. */
const EXCESS_MS = 5_000;

/** Recordings that cannot be written; calls never notice. */
function faultsContract(clause: RecordingsClause, expect: ContractRunner["expect"]): void {
  clause(
    "reports once that a recording is incomplete, keeps its beginning, and accepts more samples",
    async (subject) => {
      const recordings = subject.full?.();
      if (recordings === undefined)
        throw new Error("full() is missing: add it, or state the reason as skips.infallible");
      const take = new Take(recordings, "call_1");
      take.write(EXCESS_MS);
      await until(REPORT_MS, "It reports that the recording is incomplete", () => take.reasons.length > 0);
      take.write(4 * EXCESS_MS); // the call continues
      await take.writer.finish();
      await take.writer.finish();
      expect(take.reasons.length).toBe(1);
      expect(INCOMPLETE_REASONS.includes(take.reasons[0]!)).toBe(true);
      expect(take.writer.recordedMs).toBeLessThanOrEqual(EXCESS_MS);
      const recording = await recordings.read("call_1");
      if (recording) await expectStored(expect, recording, take, "beginning");
      await recordings.forget(["call_1"]);
      expect(await recordings.read("call_1")).toBe(undefined);
      await recordings.close();
    },
  );
}
