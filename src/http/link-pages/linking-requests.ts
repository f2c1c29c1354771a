import { PerUser } from "../../application/user-limits/per-user.ts";
import { MAX_AT_ONCE } from "../../application/user-limits/user-limits.ts";
import type { Principal } from "../../domain/access/principal.ts";
import { Refusal } from "../../domain/refusal.ts";

/** Limits the concurrent requests for linking codes: per user, and per instance of a demo token. */
export class LinkingRequests {
  readonly #userLimit = new PerUser(MAX_AT_ONCE.linking);
  readonly #demoLimit = new PerUser(MAX_AT_ONCE.demoLinking);

  /**
   * Runs `respond`; the request counts towards the limits until the response is ready.
   * @throws {Refusal} `server_busy`
   */
  async run<T>({ userId, demoInstanceId }: Principal, respond: () => Promise<T>): Promise<T> {
    const releaseDemo = demoInstanceId === undefined ? () => {} : this.#demoLimit.take(demoInstanceId);
    const release = releaseDemo && this.#userLimit.take(userId);
    try {
      if (!release)
        throw new Refusal("server_busy", "too many of your requests are waiting for a linking code; try again");
      return await respond();
    } finally {
      release?.();
      releaseDemo?.();
    }
  }
}
