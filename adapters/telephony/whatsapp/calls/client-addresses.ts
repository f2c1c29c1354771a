import type { WhatsAppClient } from "../../../../src/ports/whatsapp-client.ts";

/** Addresses of a client's device; its calls name the first as their creator. Empty if they are unknown. */
export function ownAddresses(client: WhatsAppClient): string[] {
  try {
    const { meLid, meJid } = client.getCredentials() ?? {};
    return [meLid, meJid].flatMap((address) => address || []);
  } catch {
    return [];
  }
}
