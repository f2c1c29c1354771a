import { fromHex, toHex } from "../../base/hex.ts";
import type { System } from "../../ports/system.ts";
import type { Vault } from "../encryption/vault.ts";

/** Validity of a ticket, ms. */
const TICKET_MS = 60 * 60_000;
/**
 * Tolerated backward step of the clock while a ticket is valid, ms; beyond it, the ticket was issued by a fast clock.
 */
const MAX_SETBACK_MS = TICKET_MS;
/** Instance, expiry time in ms (base 36), signature (hexadecimal). */
const TICKET = /^(inst_[0-9a-z]{26})\.([0-9a-z]{1,11})\.([0-9a-f]{64})$/;

/** A new ticket. */
export interface LinkTicket {
  readonly ticket: string;
  /** ms since 1970-01-01 UTC. */
  readonly expiresAt: number;
}

/** Tickets for the link page of one instance, which works without a token. They are signed, and not stored. */
export class LinkTickets {
  readonly #vault: Vault;
  readonly #system: System;
  #key: ReturnType<Vault["signingKey"]> | undefined;

  constructor(vault: Vault, system: System) {
    this.#vault = vault;
    this.#system = system;
  }

  async issue(instanceId: string): Promise<LinkTicket> {
    const expiresAt = this.#system.now() + TICKET_MS;
    const signedText = `${instanceId}.${expiresAt.toString(36)}`;
    const signature = await crypto.subtle.sign("HMAC", await this.#signingKey(), new TextEncoder().encode(signedText));
    return { ticket: `${signedText}.${toHex(new Uint8Array(signature))}`, expiresAt };
  }

  /** The instance of a ticket, and whether the ticket has expired; undefined for an invalid ticket. */
  async read(ticket: string): Promise<{ readonly instanceId: string; readonly isExpired: boolean } | undefined> {
    const [, instanceId = "", expiry = "", signature = ""] = TICKET.exec(ticket) ?? [];
    if (instanceId === "") return undefined;
    const signedBytes = new TextEncoder().encode(`${instanceId}.${expiry}`);
    if (!(await crypto.subtle.verify("HMAC", await this.#signingKey(), fromHex(signature), signedBytes)))
      return undefined;
    const remainingMs = Number.parseInt(expiry, 36) - this.#system.now();
    return { instanceId, isExpired: remainingMs <= 0 || remainingMs > TICKET_MS + MAX_SETBACK_MS };
  }

  #signingKey(): ReturnType<Vault["signingKey"]> {
    this.#key ??= this.#vault.signingKey("link page");
    return this.#key;
  }
}
