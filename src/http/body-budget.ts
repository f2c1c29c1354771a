import type { Limits } from "../domain/limits.ts";
import { HttpRefusal } from "./problem.ts";

/** A body up to this size is parsed on the spot, and counts for its user only, bytes. */
export const SMALL_BODY: number = 64 << 10;

/** The bytes that one body holds. */
export interface BodyShare {
  /**
   * Takes more bytes.
   * @param bytes what the body holds from now on
   * @throws {HttpRefusal} `server_busy`: the budget of all bodies or of the user has no room for them; nothing is taken
   */
  grow(bytes: number): void;
  /** Gives every byte back. Twice is fine. */
  release(): void;
}

/** Bounds the bytes of all bodies that are being received or worked on, and those of each user. */
export class BodyBudget {
  readonly #limits: Pick<Limits, "allBodiesBytes" | "userBodiesBytes">;
  readonly #byUser = new Map<string, number>();
  #large = 0;

  constructor(limits: Pick<Limits, "allBodiesBytes" | "userBodiesBytes">) {
    this.#limits = limits;
  }

  /** The share of a new body, empty at first. */
  share(userId: string): BodyShare {
    let held = 0;
    return {
      grow: (bytes) => {
        this.#take(userId, held, bytes);
        held = bytes;
      },
      release: () => {
        if (held > 0) this.#take(userId, held, 0);
        held = 0;
      },
    };
  }

  #take(userId: string, before: number, bytes: number): void {
    const { allBodiesBytes, userBodiesBytes } = this.#limits;
    const user = (this.#byUser.get(userId) ?? 0) + bytes - before;
    const large = this.#large + counted(bytes) - counted(before);
    if (bytes > before && user > userBodiesBytes) throw busy("your requests that are under way hold");
    if (bytes > before && large > allBodiesBytes) throw busy("all requests that are under way hold");
    if (user > 0) this.#byUser.set(userId, user);
    else this.#byUser.delete(userId);
    this.#large = large;
  }
}

/** What a body counts for in the budget of all: a flood of large ones never refuses the small ones of others. */
const counted = (bytes: number): number => (bytes > SMALL_BODY ? bytes : 0);

function busy(whose: string): HttpRefusal {
  // The body stays unread, so the connection cannot be used again.
  return new HttpRefusal("server_busy", `${whose} too many bytes at the moment; try again`, {
    headers: { connection: "close" },
  });
}
