import type { Principal } from "../../domain/access/principal.ts";
import type { Limits } from "../../domain/limits.ts";
import { HttpRefusal } from "../problems/problem.ts";

/** The largest body that is parsed on the main thread, bytes. Small and large bodies have separate budgets. */
export const SMALL_BODY: number = 64 << 10;

/** The share of one body in the budget. */
export interface BodyShare {
  /**
   * Raises the share to `bytes`.
   * @param bytes the new total, not the difference
   * @throws {HttpRefusal} `server_busy` if the budget is used up; the share is unchanged
   */
  grow(bytes: number): void;
  /** Returns all bytes to the budget. Idempotent. */
  release(): void;
}

/** Total size of the bodies of one user, or of one demo token's instance, bytes. */
interface BodyBytes {
  readonly small: number;
  readonly large: number;
}

/** The owner of a body. */
type Owner = Pick<Principal, "userId" | "demoInstanceId">;

/** The part of its user's budgets that a demo token may use. */
const DEMO_PART = 1 / 4;
/** The largest body of a demo token, bytes: a minute of MP3 at 96 kbit/s. */
const MAX_DEMO_BODY: number = 1 << 20;

/**
 * Bounds the bytes of all large bodies that are being received or processed, and of each user's large and small bodies.
 * The large bodies of one user take at most as much as they leave free, so every user gets a part of the free budget,
 * and uploads never cause a small request to be refused. A demo token has a quarter of its user's budgets, and one
 * large body at a time, of at most 1 MiB: while a body is parsed and checked, it takes several times its size in
 * memory.
 */
export class BodyBudget {
  readonly #limits: Pick<Limits, "allBodiesBytes" | "userBodiesBytes">;
  readonly #byUser = new Map<string, BodyBytes>();
  readonly #bytesByDemoInstance = new Map<string, BodyBytes>();
  #largeBytes = 0;

  constructor(limits: Pick<Limits, "allBodiesBytes" | "userBodiesBytes">) {
    this.#limits = limits;
  }

  /** The largest body that fits while there is no other body, bytes. */
  maxBytes(owner: Owner): number {
    const sharedBytes = Math.min(
      this.#budgetOf(owner),
      Math.max(SMALL_BODY, Math.floor(this.#limits.allBodiesBytes / 2)),
    );
    return owner.demoInstanceId === undefined ? sharedBytes : Math.min(sharedBytes, MAX_DEMO_BODY);
  }

  /** The share of a new body; it starts with no bytes. */
  share(owner: Owner): BodyShare {
    let heldBytes = 0;
    return {
      grow: (bytes) => {
        this.#change(owner, heldBytes, bytes);
        heldBytes = bytes;
      },
      release: () => {
        if (heldBytes > 0) this.#change(owner, heldBytes, 0);
        heldBytes = 0;
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
    const addedLarge = largePart(to) - largePart(from);
    const withChange = ({ small, large } = NO_BYTES): BodyBytes => ({
      large: large + addedLarge,
      small: small + to - from - addedLarge,
    });
    const user = withChange(this.#byUser.get(userId));
    const demo = demoInstanceId === undefined ? NO_BYTES : withChange(this.#bytesByDemoInstance.get(demoInstanceId));
    if (to > from) {
      if (exceeds(user, userBodiesBytes))
        throw busy(`your requests are at their limit of ${userBodiesBytes} bytes of request bodies`);
      if (demoInstanceId !== undefined && addedLarge > 0 && demo.large > to)
        throw busy(`a demo token sends one body above ${SMALL_BODY} bytes at a time`);
      if (exceeds(demo, this.#budgetOf(owner)))
        throw busy(
          `the requests of this demo token are at their limit of ${this.#budgetOf(owner)} bytes of request bodies`,
        );
      if (addedLarge > 0 && user.large > allBodiesBytes - this.#largeBytes - addedLarge)
        throw busy(`your requests would leave too little of the server's ${allBodiesBytes} bytes of request bodies`);
    }
    this.#largeBytes += addedLarge;
    update(this.#byUser, userId, user);
    if (demoInstanceId !== undefined) update(this.#bytesByDemoInstance, demoInstanceId, demo);
  }
}

const NO_BYTES: BodyBytes = { small: 0, large: 0 };

const exceeds = ({ small, large }: BodyBytes, budget: number): boolean => Math.max(small, large) > budget;

function update(bytesByKey: Map<string, BodyBytes>, key: string, bodyBytes: BodyBytes): void {
  if (bodyBytes.large + bodyBytes.small > 0) bytesByKey.set(key, bodyBytes);
  else bytesByKey.delete(key);
}

const largePart = (bytes: number): number => (bytes > SMALL_BODY ? bytes : 0);

function busy(reason: string): HttpRefusal {
  // The body stays unread, so the connection cannot be reused.
  return new HttpRefusal("server_busy", `${reason}; try again`, {
    headers: { connection: "close" },
  });
}
