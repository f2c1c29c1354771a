import type { ContractRunner } from "../contract-runner.ts";
import type { TestNetwork } from "../telephony-network.ts";
import type { ContractOptions, ContractSubject } from "./options.ts";

/** Options and functions that the tests of one theme use. */
export interface TelephonyTheme {
  readonly options: ContractOptions;
  readonly expect: ContractRunner["expect"];
  /**
   * Defines a test with its own network, which is closed after it.
   * @param needs the option that it requires; if that is a `Skip`, the test is skipped with the reason
   * @param create creates its network. Default: `create` of the options
   */
  test(
    title: string,
    body: (network: TestNetwork) => Promise<void>,
    needs?: unknown,
    create?: () => Promise<ContractSubject>,
  ): void;
}
