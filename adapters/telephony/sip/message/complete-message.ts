import type { Complaint } from "./complaint.ts";
import { type MalformedMessage, malformed } from "./malformed-message.ts";
import type { SipMessage } from "./message.ts";
import { messageFault } from "./message-fault.ts";
import type { MessageHead } from "./message-head.ts";

/** The message with its body, or what is wrong with it: in its head, as given, or in its fields. */
export function completeMessage(head: MessageHead, body: Uint8Array, given?: Complaint): SipMessage | MalformedMessage {
  const { start, headers } = head;
  if (start === undefined) return malformed(head, head.complaint);
  const complaint = head.complaint ?? given ?? messageFault(start, headers);
  return complaint === undefined ? { ...start, headers, body } : malformed(head, complaint);
}
