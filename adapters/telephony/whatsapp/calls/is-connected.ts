import type { WhatsAppClient } from "../../../../src/ports/whatsapp-client.ts";

/** True if a client is connected. A client that cannot report its state is treated as not connected. */
export function isConnected(client: WhatsAppClient | undefined): boolean {
  try {
    return client?.getState().connected === true;
  } catch {
    return false;
  }
}
