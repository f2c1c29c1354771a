import { PerUser } from "../../application/user-limits/per-user.ts";
import { MAX_AT_ONCE } from "../../application/user-limits/user-limits.ts";
import type { Principal } from "../../domain/access/principal.ts";
import { Refusal } from "../../domain/refusal.ts";

/** Limits concurrent requests for linking codes of each user, and of each demo token's instance. */
export class LinkingRequests {
  readonly #ofUser = new PerUser(MAX_AT_ONCE.linking);
  readonly #ofDemoInstance = new PerUser(MAX_AT_ONCE.demoLinking);

  /**
   * Counts a request until its reply is made.
   * @throws {Refusal} `server_busy`
   */
  async run<T>({ userId, demoInstanceId }: Principal, reply: () => Promise<T>): Promise<T> {
    const leaveDemo = demoInstanceId === undefined ? () => {} : this.#ofDemoInstance.take(demoInstanceId);
    const leave = leaveDemo && this.#ofUser.take(userId);
    try {
      if (!leave)
        throw new Refusal("server_busy", "too many of your requests are waiting for a linking code; try again");
      return await reply();
    } finally {
      leave?.();
      leaveDemo?.();
    }
  }
}
