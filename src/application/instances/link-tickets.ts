import { fromHex, toHex } from "../../base/hex.ts";
import type { System } from "../../ports/system.ts";
import type { Vault } from "../sealing/vault.ts";

/** Time a ticket is valid, ms. */
const TICKET_MS = 60 * 60_000;
/** Tolerated step back of the clock while a ticket is valid, ms; beyond it, the ticket was issued by a fast clock. */
const SET_BACK_MS = TICKET_MS;
/** Instance, time of expiry in ms (base 36), signature (hexadecimal). */
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
    const signed = `${instanceId}.${expiresAt.toString(36)}`;
    const signature = await crypto.subtle.sign("HMAC", await this.#signingKey(), new TextEncoder().encode(signed));
    return { ticket: `${signed}.${toHex(new Uint8Array(signature))}`, expiresAt };
  }

  /** The instance of a ticket, and whether the ticket has expired; undefined for an invalid ticket. */
  async read(ticket: string): Promise<{ readonly instanceId: string; readonly expired: boolean } | undefined> {
    const [, instanceId = "", expiry = "", signature = ""] = TICKET.exec(ticket) ?? [];
    if (instanceId === "") return undefined;
    const signed = new TextEncoder().encode(`${instanceId}.${expiry}`);
    if (!(await crypto.subtle.verify("HMAC", await this.#signingKey(), fromHex(signature), signed))) return undefined;
    const leftMs = Number.parseInt(expiry, 36) - this.#system.now();
    return { instanceId, expired: leftMs <= 0 || leftMs > TICKET_MS + SET_BACK_MS };
  }

  #signingKey(): ReturnType<Vault["signingKey"]> {
    this.#key ??= this.#vault.signingKey("link page");
    return this.#key;
  }
}
