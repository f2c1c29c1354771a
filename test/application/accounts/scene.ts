// Loaded up front, because a manual clock does not wait for imports.
import "../../../src/application/accounts/accounts.ts";
import type { TokenIssuer } from "../../../src/application/accounts/account-tokens.ts";
import type { AccountUseCases, Browser, NewSession } from "../../../src/application/accounts/account-use-cases.ts";
import { issueToken } from "../../../src/application/tokens/tokens.ts";
import { sha256Hex } from "../../../src/base/sha256.ts";
import { HasherBusy, type PasswordHasher } from "../../../src/ports/password-hasher.ts";
import { World, type WorldOptions } from "../../support/application.ts";

export const PASSWORD = "correct horse battery";
export const BROWSER: Browser = { userAgent: "Browser/1.0" };

/** Instant hasher that counts its calls. */
export class CountingHasher implements PasswordHasher {
  hashCount = 0;
  verifyCount = 0;
  isBusy = false;
  version = 1;

  async hash(password: string): Promise<string> {
    this.#assertFree();
    this.hashCount++;
    return `v${this.version}:${password}`;
  }

  async verify(password: string, hash: string | undefined): Promise<boolean> {
    this.#assertFree();
    this.verifyCount++;
    return hash?.replace(/^v\d+:/, "") === password;
  }

  isOutdated(hash: string): boolean {
    return !hash.startsWith(`v${this.version}:`);
  }

  #assertFree(): void {
    if (this.isBusy) throw new HasherBusy("busy");
  }
}

export interface AccountScene {
  readonly world: World;
  readonly accounts: AccountUseCases;
  readonly hasher: CountingHasher;
  /** Ids of the tokens revoked through the token office. */
  readonly revokedTokenIds: string[];
  /** Registers the administrator with the code from the first start. */
  admin(email?: string): Promise<NewSession>;
  /** Registers a person with an invitation from the administrator. */
  member(admin: NewSession, email: string): Promise<NewSession>;
}

/** Accounts over an in-memory database and a manual clock. */
export async function accountScene(
  options: WorldOptions & { readonly registration?: "open" | "invitation" } = {},
): Promise<AccountScene> {
  return sceneOf(await World.start(options), options.registration);
}

/** The accounts of a world that is already running. */
export async function sceneOf(world: World, registration: "open" | "invitation" = "invitation"): Promise<AccountScene> {
  const hasher = new CountingHasher();
  const revokedTokenIds: string[] = [];
  const { system, storage, context } = world;
  const tokens: TokenIssuer = {
    issue: (token) => issueToken(storage.accounts, system, context.ids, token),
    revoke(tokenId) {
      revokedTokenIds.push(tokenId);
      return storage.accounts.revokeToken(tokenId, system.now());
    },
  };
  const accounts = await world.app.accounts({ passwords: hasher, registration, tokens, sha256: sha256Hex });
  return {
    world,
    accounts,
    hasher,
    revokedTokenIds,
    async admin(email = "ana@example.com") {
      const { code } = (await accounts.firstCode())!;
      return accounts.register({ email, password: PASSWORD, code }, BROWSER);
    },
    async member(admin, email) {
      const { code } = await accounts.invite(admin.account);
      return accounts.register({ email, password: PASSWORD, code }, BROWSER);
    },
  };
}
