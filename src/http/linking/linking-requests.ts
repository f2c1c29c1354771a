import { PerUser } from "../../application/user-limits/per-user.ts";
import { MAX_AT_ONCE } from "../../application/user-limits/user-limits.ts";
import type { Principal } from "../../domain/access/principal.ts";
import { Refusal } from "../../domain/refusal.ts";

/** Limits concurrent requests for linking codes of each user, and of each demo token's instance. */
export class LinkingRequests {
  readonly #userLimit = new PerUser(MAX_AT_ONCE.linking);
  readonly #demoLimit = new PerUser(MAX_AT_ONCE.demoLinking);

  /**
   * Counts a request until its reply is made.
   * @throws {Refusal} `server_busy`
   */
  async run<T>({ userId, demoInstanceId }: Principal, reply: () => Promise<T>): Promise<T> {
    const releaseDemo = demoInstanceId === undefined ? () => {} : this.#demoLimit.take(demoInstanceId);
    const release = releaseDemo && this.#userLimit.take(userId);
    try {
      if (!release)
        throw new Refusal("server_busy", "too many of your requests are waiting for a linking code; try again");
      return await reply();
    } finally {
      release?.();
      releaseDemo?.();
    }
  }
}
