import type { SipMessage } from "../message/message.ts";
import { bodyType } from "./session-description.ts";

/** The digits behind the event numbers 10 to 15, which some gateways write. */
const EVENTS = "*#ABCD";

/** The key that an INFO carries (application/dtmf-relay: `Signal=5`; application/dtmf: `5`); undefined: none of ours. */
export function digitOf(message: SipMessage): string | undefined {
  const type = bodyType(message);
  if (!isDtmf(type)) return undefined;
  const text = new TextDecoder().decode(message.body.subarray(0, 256));
  const signal =
    /^[ \t]*signal[ \t]*=[ \t]*(\S+)/im.exec(text)?.[1] ?? (type === "application/dtmf" ? text.trim() : "");
  const digit = /^1[0-5]$/.test(signal) ? EVENTS.charAt(Number(signal) - 10) : signal.toUpperCase();
  return /^[0-9*#A-D]$/.test(digit) ? digit : undefined;
}

/** Whether an INFO with such a body carries a key. */
export function isDtmf(type: string): boolean {
  return type === "application/dtmf-relay" || type === "application/dtmf";
}

/** The body of an INFO with a key: application/dtmf-relay. */
export function dtmfRelay(digit: string, durationMs: number): Uint8Array {
  return new TextEncoder().encode(`Signal=${digit}\r\nDuration=${Math.round(durationMs)}\r\n`);
}
