import type { Transcription } from "../ports/transcription.ts";
import { clausesOf } from "./contract-clause.ts";
import type { ContractRunner } from "./contract-runner.ts";
import { endingsContract } from "./transcription-contract/endings.ts";
import { faultsContract } from "./transcription-contract/faults.ts";
import type { Saying } from "./transcription-contract/saying.ts";
import { textsContract } from "./transcription-contract/texts.ts";

export type { Saying } from "./transcription-contract/saying.ts";

/** A transcription to be tested, new for each test. */
export interface TranscriptionUnderTest {
  readonly transcription: Transcription;
  /** Two utterances that can be distinguished. */
  readonly sayings: readonly [Saying, Saying];
  /** Creates an engine with a wrong key or model, which cannot open sessions. Omit it if the engine is `infallible`. */
  refused?(): Transcription;
  /** Makes the engine permanently unreachable. Omit it if the engine is `infallible`. */
  cutOff?(): Promise<void>;
  /** Called after the transcription has been closed. */
  close(): Promise<void>;
}

/** Registers one clause of the contract with its test. */
export type TranscriptionClause = (title: string, body: (subject: TranscriptionUnderTest) => Promise<void>) => void;

/**
 * The contract of the transcription port as tests.
 * @param name title of the group of tests
 * @param factory makes a transcription; called once per test
 * @param infallible reason why its engine can neither refuse nor be unreachable; those tests are then skipped with this
 *   reason
 *
 * @example
 * import { describe, expect, test } from "vitest";
 * transcriptionContract("my engine", () => freshEngine(), { describe, test, expect });
 */
export function transcriptionContract(
  name: string,
  factory: () => Promise<TranscriptionUnderTest>,
  { describe, test, expect }: ContractRunner,
  infallible?: string,
): void {
  const clause = clausesOf(test, factory, ({ transcription }) => transcription);
  const faultClause: TranscriptionClause = (title, body) =>
    infallible === undefined ? clause(title, body) : test.skip(`${title} (skipped: ${infallible})`, async () => {});

  describe(`${name} fulfils the transcription contract`, () => {
    describe("texts", () => textsContract(clause, expect));
    describe("endings", () => endingsContract(clause, expect));
    describe("faults", () => faultsContract(faultClause, expect));
  });
}
