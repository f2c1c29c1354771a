import type { ContractRunner } from "../contract-runner.ts";
import type { Network } from "../telephony-network.ts";
import type { ContractOptions, ContractSubject } from "./options.ts";

/** What the tests of one theme are written with. */
export interface TelephonyTheme {
  readonly options: ContractOptions;
  readonly expect: ContractRunner["expect"];
  /**
   * A test with a network of its own, closed when it is over.
   * @param needs the option that it requires; if that is a `Skip`, it is skipped with the reason
   * @param create makes its network. Default: that of the options
   */
  test(
    title: string,
    body: (network: Network) => Promise<void>,
    needs?: unknown,
    create?: () => Promise<ContractSubject>,
  ): void;
}
