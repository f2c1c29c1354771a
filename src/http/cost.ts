import type { MAX_AT_ONCE } from "../application/user-limits/user-limits.ts";

/** The limits of expensive work, by the name that routes use. */
type LimitName =
  | Exclude<keyof typeof MAX_AT_ONCE, "demoLinking">
  /** Bytes of request bodies (`bodies/body-budget.ts`). */
  | "bodies"
  /** Open WebSockets (`sockets/socket-budget.ts`). */
  | "sockets"
  /** Unused tickets (`stream/stream-tickets.ts`). */
  | "tickets"
  /** Hashes of passwords: each user's attempts are slowed down, and few are hashed at once. */
  | "passwords"
  /** Bytes of a page of a list (`replies/list-reply.ts`). */
  | "pages"
  /**
   * Bytes of streamed bodies that are produced in one turn of the event loop, for all users (`replies/in-turns.ts`).
   */
  | "turns";

/**
 * The limits that bound the expensive work of a route. `small`: it needs none, because a request reads or changes a few
 * records, or is a single network step.
 */
export type Cost = "small" | readonly [LimitName, ...LimitName[]];
