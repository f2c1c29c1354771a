import type { AccountStore } from "../../ports/storage.ts";
import { DialError, type Telephony } from "../../ports/telephony.ts";

/** Decides which users may use which network, according to its telephony's `users`. */
export class ProviderAccess {
  readonly #telephony: ReadonlyMap<string, Telephony>;
  readonly #accounts: AccountStore;
  /** Users are never removed, so the first user never changes. */
  #firstUserId: string | undefined;

  constructor(telephony: ReadonlyMap<string, Telephony>, accounts: AccountStore) {
    this.#telephony = telephony;
    this.#accounts = accounts;
  }

  /** True if the instances of this user may call over the network. */
  async isOpenTo(userId: string, { users = "*" }: Telephony): Promise<boolean> {
    if (users === "*") return true;
    return users === "first" ? (await this.#firstUser()) === userId : users.includes(userId);
  }

  /**
   * Checks, when a call is dialled, that its owner may still use the network.
   * @throws {DialError} they may not
   */
  async assertAccess(userId: string, network: Telephony): Promise<void> {
    if (await this.isOpenTo(userId, network)) return;
    throw new DialError(
      "rejected_by_network",
      `not dialled: user "${userId}" may not use "${network.name}"; the server's operator can add the id to its "users"`,
    );
  }

  /** The names of the networks that this user may use, in the order they were mounted. */
  async networksOf(userId: string): Promise<string[]> {
    const names: string[] = [];
    for (const [name, network] of this.#telephony) if (await this.isOpenTo(userId, network)) names.push(name);
    return names;
  }

  /** Advice to the operator for a user whose network is missing; empty if all networks are open to everyone. */
  get hint(): string {
    const isRestricted = [...this.#telephony.values()].some(({ users = "*" }) => users !== "*");
    return isRestricted
      ? '; the "users" option of a trunk lists who may use it: ids, or "*"; by default only the server\'s first user'
      : "";
  }

  async #firstUser(): Promise<string | undefined> {
    this.#firstUserId ??= (await this.#accounts.users(1))[0]?.id;
    return this.#firstUserId;
  }
}
