import type { ResolvedNumber } from "../calls/number-resolver.ts";
import { type ClientRecord, isBytes } from "./client-types.ts";
import type { PrivacyTokenStore } from "./privacy-token-store.ts";

/**
 * True if the client has a privacy token of this callee, so that its offer is not one to a stranger. A token may arrive
 * under the number of the contact, and the client looks only under the address that it calls: such a token is copied there,
 * unless a newer one is there.
 */
export async function isContact(tokens: PrivacyTokenStore, { phoneJid, address }: ResolvedNumber): Promise<boolean> {
  const called = await tokens.getByJid(address);
  const byNumber = address === phoneJid ? null : await tokens.getByJid(phoneJid);
  if (!hasToken(byNumber)) return hasToken(called);
  if (!hasToken(called) || isNewer(byNumber, called)) await tokens.upsert({ ...byNumber, jid: address });
  return true;
}

function hasToken(record: ClientRecord | null): boolean {
  return isBytes(record?.tcToken);
}

/** False if one of the ages is unknown: a token of the address that is called stays. */
function isNewer({ tcTokenTimestamp: one }: ClientRecord, { tcTokenTimestamp: other }: ClientRecord): boolean {
  return typeof one === "number" && typeof other === "number" && one > other;
}
