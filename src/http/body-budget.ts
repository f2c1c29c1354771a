import type { Limits } from "../domain/limits.ts";
import type { Principal } from "../domain/principal.ts";
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

/** What the bodies of one user, or of one demo token's instance, hold, bytes. */
interface Held {
  readonly small: number;
  readonly large: number;
}

/** Whose body it is. */
type Owner = Pick<Principal, "userId" | "demoInstanceId">;

/** What a demo token may use of its user's budgets. */
const DEMO_PART = 1 / 4;

/**
 * Bounds the bytes of all large bodies that are being received or worked on, and the large and the small ones of each
 * user. The large bodies of one user never take more than they leave free, so every user gets a part of what is free,
 * and no upload refuses a small request. A demo token has a quarter of its user's budgets.
 */
export class BodyBudget {
  readonly #limits: Pick<Limits, "allBodiesBytes" | "userBodiesBytes">;
  readonly #byUser = new Map<string, Held>();
  readonly #byDemoInstance = new Map<string, Held>();
  #large = 0;

  constructor(limits: Pick<Limits, "allBodiesBytes" | "userBodiesBytes">) {
    this.#limits = limits;
  }

  /** The largest body that has room while there is no other one, bytes. */
  most(owner: Owner): number {
    return Math.min(this.#budgetOf(owner), Math.max(SMALL_BODY, Math.floor(this.#limits.allBodiesBytes / 2)));
  }

  /** The share of a new body, empty at first. */
  share(owner: Owner): BodyShare {
    let held = 0;
    return {
      grow: (bytes) => {
        this.#change(owner, held, bytes);
        held = bytes;
      },
      release: () => {
        if (held > 0) this.#change(owner, held, 0);
        held = 0;
      },
    };
  }

  #budgetOf({ demoInstanceId }: Owner): number {
    const { userBodiesBytes } = this.#limits;
    return demoInstanceId === undefined ? userBodiesBytes : Math.floor(userBodiesBytes * DEMO_PART);
  }

  #change(owner: Owner, from: number, to: number): void {
    const { allBodiesBytes, userBodiesBytes } = this.#limits;
    const { userId, demoInstanceId } = owner;
    const more = largePart(to) - largePart(from);
    const grown = ({ small, large } = NOTHING): Held => ({ large: large + more, small: small + to - from - more });
    const user = grown(this.#byUser.get(userId));
    const demo = demoInstanceId === undefined ? NOTHING : grown(this.#byDemoInstance.get(demoInstanceId));
    if (to > from) {
      if (isBeyond(user, userBodiesBytes)) throw busy(`your requests are at their limit of ${userBodiesBytes}`);
      if (isBeyond(demo, this.#budgetOf(owner)))
        throw busy(`the requests of this demo token are at their limit of ${this.#budgetOf(owner)}`);
      if (more > 0 && user.large > allBodiesBytes - this.#large - more)
        throw busy(`your requests would leave too little of the server's ${allBodiesBytes}`);
    }
    this.#large += more;
    keep(this.#byUser, userId, user);
    if (demoInstanceId !== undefined) keep(this.#byDemoInstance, demoInstanceId, demo);
  }
}

const NOTHING: Held = { small: 0, large: 0 };

const isBeyond = ({ small, large }: Held, budget: number): boolean => Math.max(small, large) > budget;

function keep(all: Map<string, Held>, key: string, held: Held): void {
  if (held.large + held.small > 0) all.set(key, held);
  else all.delete(key);
}

const largePart = (bytes: number): number => (bytes > SMALL_BODY ? bytes : 0);

function busy(what: string): HttpRefusal {
  // The body stays unread, so the connection cannot be used again.
  return new HttpRefusal("server_busy", `${what} bytes of request bodies; try again`, {
    headers: { connection: "close" },
  });
}
