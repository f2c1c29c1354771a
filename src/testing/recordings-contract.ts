import type { Recordings } from "../ports/recordings.ts";
import { clausesOf } from "./contract-clause.ts";
import type { ContractRunner } from "./contract-runner.ts";
import { faultsContract } from "./recordings-contract/faults.ts";
import { keepingContract } from "./recordings-contract/keeping.ts";
import { readingContract } from "./recordings-contract/reading.ts";

/** The recordings under test, new and empty for each test. */
export interface RecordingsUnderTest {
  readonly recordings: Recordings;
  /** The recordings as a new process finds them, after this one was closed or has died. Omit it if all is `forgotten`. */
  reopen?(): Promise<Recordings>;
  /** Recordings whose disk is full after a second or two. Omit it if they are `infallible`. */
  full?(): Recordings;
  /** Called after the recordings have been closed. Closes what `reopen` has opened, and removes everything. */
  close(): Promise<void>;
}

/** Why parts of the contract cannot be tested; their tests are skipped with this reason. */
export interface RecordingsSkips {
  /** Why closing loses the recordings. */
  readonly forgotten?: string;
  /** Why writing and reading cannot fail. */
  readonly infallible?: string;
}

/** Registers one rule of the contract with its test. */
export type RecordingsClause = (title: string, body: (under: RecordingsUnderTest) => Promise<void>) => void;

/**
 * The contract of the recordings port as tests.
 * @param name the title that the tests are listed under
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
  const unless =
    (reason: string | undefined): RecordingsClause =>
    (title, body) =>
      reason === undefined ? clause(title, body) : test.skip(`${title} (skipped: ${reason})`, async () => {});

  describe(`${name} fulfil the recordings contract`, () => {
    describe("keeping", () => keepingContract(clause, unless(skips.forgotten), expect));
    describe("reading", () => readingContract(clause, expect));
    describe("faults", () => faultsContract(unless(skips.infallible), expect));
  });
}
