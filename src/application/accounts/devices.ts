import { fromHex, toHex } from "../../base/hex.ts";
import type { Sha256 } from "../../base/sha256.ts";
import { emailKey } from "../../domain/access/email.ts";
import type { AccountRecord } from "../../ports/storage.ts";
import type { System } from "../../ports/system.ts";
import type { Vault } from "../encryption/vault.ts";

/** Maximum time that a browser is recognised after a sign-in, ms. */
const RECOGNITION_MS = 365 * 24 * 60 * 60_000;
/** Browser id (hexadecimal), expiry time in ms (base 36), signature (hexadecimal). */
const DEVICE = /^([0-9a-f]{32})\.([0-9a-z]{1,11})\.([0-9a-f]{64})$/;

/** The fields of an account that its marks are signed with. */
type MarkedAccount = Pick<AccountRecord, "email" | "passwordHash">;

/**
 * Marks of browsers that have signed in to an account: their failed attempts are counted separately from those of
 * strangers. A mark is signed, is bound to one email address and its password, and grants no access. It is not stored.
 */
export class Devices {
  readonly #vault: Pick<Vault, "signingKey">;
  readonly #system: Pick<System, "now">;
  readonly #sha256: Sha256;
  #key: ReturnType<Vault["signingKey"]> | undefined;

  constructor(vault: Pick<Vault, "signingKey">, system: Pick<System, "now">, sha256: Sha256) {
    this.#vault = vault;
    this.#system = system;
    this.#sha256 = sha256;
  }

  /** All marks of one session share an id, so a further mark allows no further guesses. */
  async issue(account: MarkedAccount, sessionId: string): Promise<string> {
    const id = (await this.#sha256(`device of ${sessionId}`)).slice(0, 32);
    const device = `${id}.${(this.#system.now() + RECOGNITION_MS).toString(36)}`;
    const signature = await crypto.subtle.sign("HMAC", await this.#signingKey(), signedText(device, account));
    return `${device}.${toHex(new Uint8Array(signature))}`;
  }

  /** The id of a browser that has signed in to the account with its current password; undefined for any other mark. */
  async find(mark: string | undefined, account: MarkedAccount): Promise<string | undefined> {
    const [, id = "", expiry = "", signature = ""] = DEVICE.exec(mark ?? "") ?? [];
    if (id === "" || Number.parseInt(expiry, 36) <= this.#system.now()) return undefined;
    const signedBytes = signedText(`${id}.${expiry}`, account);
    const isValid = await crypto.subtle.verify("HMAC", await this.#signingKey(), fromHex(signature), signedBytes);
    return isValid ? id : undefined;
  }

  #signingKey(): ReturnType<Vault["signingKey"]> {
    this.#key ??= this.#vault.signingKey("browsers that have signed in");
    return this.#key;
  }
}

function signedText(device: string, { email, passwordHash }: MarkedAccount): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${device}.${emailKey(email)} ${passwordHash}`);
}
