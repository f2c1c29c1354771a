import { toHex } from "../../base/hex.ts";
import type { Instance } from "../../domain/instances/instance.ts";
import type { InstancePatch } from "../../ports/storage.ts";
import type { Context } from "../context.ts";

/** As many hexadecimal digits as no two numbers share. */
const MARK_LENGTH = 32;

/**
 * Time since which the dials of an instance count for the number being linked: a number that is linked again keeps its
 * own, and the first one has them all.
 */
export async function dialledNumber(
  { vault, system, ids }: Pick<Context, "ids" | "system" | "vault">,
  { id, dialledNumber: last }: Instance,
  phone: string,
): Promise<Pick<InstancePatch, "dialledNumber">> {
  const key = await vault.signingKey("dialled number");
  const signature = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(`${id} ${phone}`));
  const mark = toHex(new Uint8Array(signature)).slice(0, MARK_LENGTH);
  return last?.mark === mark ? {} : { dialledNumber: { mark, since: last ? system.now() : 0, after: ids("call") } };
}
