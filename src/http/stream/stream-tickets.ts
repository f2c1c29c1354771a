import { newSecret } from "../../application/tokens/tokens.ts";
import { sha256Hex } from "../../base/sha256.ts";
import type { Principal } from "../../domain/access/principal.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { System } from "../../ports/system.ts";

/** Validity of a ticket, ms. */
const TICKET_MS = 60_000;
/** Maximum number of unused tickets of one user, and of all users. */
const MAX_PER_USER = 100;
const MAX_TICKETS = 10_000;
const TICKET = /^[0-9A-Za-z]{43}$/;

/** The access token that a ticket replaces; the user, if the embedding program has authenticated them without one. */
export type Credential = string | Principal;

interface Ticket {
  /** Path of the WebSocket that it opens. */
  readonly path: string;
  readonly userId: string;
  readonly credential: Credential;
  readonly expiresAt: number;
}

/** A new ticket; it cannot be read again. */
export interface IssuedTicket {
  readonly ticket: string;
  /** ms since 1970-01-01 UTC. */
  readonly expiresAt: number;
}

/**
 * Tickets that replace an access token on one WebSocket of one call, once, within a minute: a browser cannot send the
 * token itself with a WebSocket. Only their hashes are kept, in the memory of this process.
 */
export class StreamTickets {
  readonly #system: System;
  /** Tickets by hash, oldest first. */
  readonly #tickets: Map<string, Ticket> = new Map();
  readonly #countByUser: Map<string, number> = new Map();

  constructor(system: System) {
    this.#system = system;
  }

  /** @throws {Refusal} `server_busy` if there are too many unused tickets */
  async issue(grant: { path: string; userId: string; credential: Credential }): Promise<IssuedTicket> {
    this.#deleteExpired();
    const ticket = newSecret(this.#system);
    const hash = await sha256Hex(ticket);
    const count = this.#countByUser.get(grant.userId) ?? 0;
    if (count >= MAX_PER_USER || this.#tickets.size >= MAX_TICKETS)
      throw new Refusal("server_busy", "too many stream tickets are unused; try again in a minute");
    this.#countByUser.set(grant.userId, count + 1);
    this.#tickets.set(hash, { ...grant, expiresAt: this.#system.monotonic() + TICKET_MS });
    return { ticket, expiresAt: this.#system.now() + TICKET_MS };
  }

  /** Uses up a ticket of this path and returns its credential; undefined for an invalid ticket. */
  async redeem(ticket: string, path: string): Promise<Credential | undefined> {
    if (!TICKET.test(ticket)) return undefined;
    const hash = await sha256Hex(ticket);
    this.#deleteExpired();
    const storedTicket = this.#tickets.get(hash);
    if (storedTicket?.path !== path) return undefined;
    this.#delete(hash, storedTicket);
    return storedTicket.credential;
  }

  #deleteExpired(): void {
    const now = this.#system.monotonic();
    for (const [hash, ticket] of this.#tickets) {
      if (ticket.expiresAt > now) return;
      this.#delete(hash, ticket);
    }
  }

  #delete(hash: string, { userId }: Ticket): void {
    this.#tickets.delete(hash);
    const remaining = (this.#countByUser.get(userId) ?? 1) - 1;
    if (remaining === 0) this.#countByUser.delete(userId);
    else this.#countByUser.set(userId, remaining);
  }
}
