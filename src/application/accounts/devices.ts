import { fromHex, toHex } from "../../base/hex.ts";
import { emailKey } from "../../domain/email.ts";
import type { System } from "../../ports/system.ts";
import type { Vault } from "../access/vault.ts";

/** How long a browser is known after a sign-in, ms. */
const KNOWN_MS = 365 * 24 * 60 * 60_000;
/** 16 random bytes (hexadecimal), time of expiry in ms (base 36), signature (hexadecimal). */
const DEVICE = /^([0-9a-f]{32})\.([0-9a-z]{1,11})\.([0-9a-f]{64})$/;

/**
 * Marks of browsers that have signed in to an account: their failed attempts are counted apart from those of strangers. A
 * mark is signed, belongs to one email address, and opens nothing. Nothing of it is stored.
 */
export class Devices {
  readonly #vault: Pick<Vault, "signingKey">;
  readonly #system: System;
  #key: ReturnType<Vault["signingKey"]> | undefined;

  constructor(vault: Pick<Vault, "signingKey">, system: System) {
    this.#vault = vault;
    this.#system = system;
  }

  async issue(email: string): Promise<string> {
    const bytes = new Uint8Array(16);
    this.#system.random(bytes);
    const device = `${toHex(bytes)}.${(this.#system.now() + KNOWN_MS).toString(36)}`;
    const signature = await crypto.subtle.sign("HMAC", await this.#signingKey(), signedText(device, email));
    return `${device}.${toHex(new Uint8Array(signature))}`;
  }

  /** The id of a browser that has signed in to the account with this address; undefined for any other mark. */
  async find(mark: string | undefined, email: string): Promise<string | undefined> {
    const [, id = "", expiry = "", signature = ""] = DEVICE.exec(mark ?? "") ?? [];
    if (id === "" || Number.parseInt(expiry, 36) <= this.#system.now()) return undefined;
    const signed = signedText(`${id}.${expiry}`, email);
    const isOurs = await crypto.subtle.verify("HMAC", await this.#signingKey(), fromHex(signature), signed);
    return isOurs ? id : undefined;
  }

  #signingKey(): ReturnType<Vault["signingKey"]> {
    this.#key ??= this.#vault.signingKey("browsers that have signed in");
    return this.#key;
  }
}

function signedText(device: string, email: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${device}.${emailKey(email)}`);
}
