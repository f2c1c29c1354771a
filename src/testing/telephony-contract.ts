import type { ContractRunner } from "./contract-runner.ts";
import { audioContract } from "./telephony-contract/audio.ts";
import { callsContract } from "./telephony-contract/calls.ts";
import { deadlinesContract } from "./telephony-contract/deadlines.ts";
import { linkingContract } from "./telephony-contract/linking.ts";
import type { ContractOptions, Skip } from "./telephony-contract/options.ts";
import type { TelephonyTheme } from "./telephony-contract/theme.ts";
import { transfersContract } from "./telephony-contract/transfers.ts";
import { TestNetwork } from "./telephony-network.ts";

/**
 * The contract of the telephony port as tests.
 * @param name title of the group of tests
 * @param options factory of the network, numbers to call, and parts to skip
 *
 * @example
 * import { describe, expect, test } from "vitest";
 * telephonyContract("my network", { create, numbers, patienceMs: 2_000 }, { describe, test, expect });
 */
export function telephonyContract(name: string, options: ContractOptions, runner: ContractRunner): void {
  const { describe, expect } = runner;

  const test: TelephonyTheme["test"] = (title, body, needs, create = options.create) => {
    if (isSkip(needs)) {
      runner.test.skip(`${title} (skipped: ${needs.skip})`, async () => {});
      return;
    }
    const run = async (): Promise<void> => {
      const network = new TestNetwork(await create(), options.patienceMs);
      try {
        await body(network);
      } finally {
        await network.close();
      }
    };
    runner.test(title, run, 10 * options.patienceMs + 10_000);
  };

  const theme: TelephonyTheme = { options, expect, test };
  describe(`${name} fulfils the telephony contract`, () => {
    describe("linking", () => linkingContract(theme));
    describe("calls", () => callsContract(theme));
    describe("audio", () => audioContract(theme));
    describe("transfers", () => transfersContract(theme));
    describe("deadlines", () => deadlinesContract(theme));
  });
}

function isSkip(value: unknown): value is Skip {
  return typeof value === "object" && value !== null && "skip" in value;
}
