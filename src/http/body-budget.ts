import type { Limits } from "../domain/limits.ts";
import { HttpRefusal } from "./problem.ts";

/** A body up to this size is parsed on the spot, bytes. Small bodies and large ones do not take each other's budget. */
export const SMALL_BODY: number = 64 << 10;

/** The bytes that one body holds. */
export interface BodyShare {
  /**
   * Raises what the body holds to `bytes`.
   * @param bytes the new total, not the difference
   * @throws {HttpRefusal} `server_busy`: there is no room for them; nothing is taken
   */
  grow(bytes: number): void;
  /** Gives every byte back. Twice is fine. */
  release(): void;
}

/** What the bodies of one user hold, bytes. */
interface Held {
  readonly small: number;
  readonly large: number;
}

/**
 * Bounds the bytes of all large bodies that are being received or worked on, and the large and the small ones of each
 * user: no user's uploads refuse a request of another user, and no upload refuses a small request.
 */
export class BodyBudget {
  readonly #limits: Pick<Limits, "allBodiesBytes" | "userBodiesBytes">;
  readonly #byUser = new Map<string, Held>();
  #large = 0;

  constructor(limits: Pick<Limits, "allBodiesBytes" | "userBodiesBytes">) {
    this.#limits = limits;
  }

  /** The share of a new body, empty at first. */
  share(userId: string): BodyShare {
    let held = 0;
    return {
      grow: (bytes) => {
        this.#change(userId, held, bytes);
        held = bytes;
      },
      release: () => {
        if (held > 0) this.#change(userId, held, 0);
        held = 0;
      },
    };
  }

  #change(userId: string, from: number, to: number): void {
    const { allBodiesBytes, userBodiesBytes } = this.#limits;
    const before = this.#byUser.get(userId) ?? NOTHING;
    const more = largePart(to) - largePart(from);
    const held = { large: before.large + more, small: before.small + to - from - more };
    if (to > from) {
      if (held.large > userBodiesBytes || held.small > userBodiesBytes)
        throw busy(`your requests are at their limit of ${userBodiesBytes}`);
      if (this.#large + more > allBodiesBytes) throw busy(`the server is at its limit of ${allBodiesBytes}`);
    }
    this.#large += more;
    if (held.large + held.small > 0) this.#byUser.set(userId, held);
    else this.#byUser.delete(userId);
  }
}

const NOTHING: Held = { small: 0, large: 0 };

const largePart = (bytes: number): number => (bytes > SMALL_BODY ? bytes : 0);

function busy(what: string): HttpRefusal {
  // The body stays unread, so the connection cannot be used again.
  return new HttpRefusal("server_busy", `${what} bytes of request bodies; try again`, {
    headers: { connection: "close" },
  });
}
