import type { WhatsAppClient, WhatsAppVoip } from "../../../../src/ports/whatsapp-client.ts";
import { isConnected } from "./is-connected.ts";

/**
 * Has the client end a call; resolves with true if its terminate has left. The client also resolves if it does not have
 * the call, such as one from an earlier connection, or if the terminate could not be sent. Rejects if the client does.
 */
export async function endAtClient(
  client: WhatsAppClient | undefined,
  voip: WhatsAppVoip,
  callId: string,
): Promise<boolean> {
  const { state } = voip.getCall(callId)?.stateData ?? { state: "ended" };
  const isOpen = isConnected(client);
  await voip.endCall(callId);
  return state !== "ended" && isOpen && isConnected(client);
}
