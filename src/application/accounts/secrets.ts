import { toHex } from "../../base/hex.ts";
import type { Sha256 } from "../../base/sha256.ts";
import type { System } from "../../ports/system.ts";

/** 32 bytes in hexadecimal. */
const SECRET_PATTERN = /^[0-9a-f]{64}$/;

/** A secret that its owner sees once, and the hash that is stored. */
export interface Secret {
  readonly secret: string;
  readonly hash: string;
}

/** Makes a secret of 32 random bytes, in hexadecimal. */
export async function makeSecret(system: System, sha256: Sha256): Promise<Secret> {
  const bytes = new Uint8Array(32);
  system.random(bytes);
  const secret = toHex(bytes);
  return { secret, hash: await sha256(secret) };
}

/** The hash of a presented secret; undefined if the value cannot be a secret. */
export async function hashOfSecret(secret: unknown, sha256: Sha256): Promise<string | undefined> {
  return typeof secret === "string" && SECRET_PATTERN.test(secret) ? sha256(secret) : undefined;
}
