import type { ResolvedNumber } from "../calls/number-resolver.ts";
import { type ClientRecord, isBytes } from "./client-types.ts";
import type { PrivacyTokenStore } from "./privacy-token-store.ts";

/**
 * True if the client has a privacy token of this callee, so that its offer is not one to a stranger. The history of a phone
 * has some tokens under the number of the contact, and the client looks only under the address that it calls: such a token
 * is copied there.
 */
export async function isContact(tokens: PrivacyTokenStore, { phoneJid, address }: ResolvedNumber): Promise<boolean> {
  if (hasToken(await tokens.getByJid(address))) return true;
  const byNumber = address === phoneJid ? null : await tokens.getByJid(phoneJid);
  if (!hasToken(byNumber)) return false;
  await tokens.upsert({ ...byNumber, jid: address });
  return true;
}

function hasToken(record: ClientRecord | null): boolean {
  return isBytes(record?.tcToken);
}
