import { bodyPart } from "../message/body-part.ts";
import type { SipMessage } from "../message/sip-message.ts";
import type { DialogRequests } from "./dialog-requests.ts";

/** The keys for event numbers 10 to 15, which some gateways send. */
const EVENTS = "*#ABCD";

/** The media types for keys, with their syntax: `Signal=5`, or `5` alone. */
const TYPES = [
  ["application/dtmf-relay", /^[ \t]*signal[ \t]*=[ \t]*([^\s]+)/im],
  ["application/dtmf", /^\s*(?:signal[ \t]*=[ \t]*)?([^\s=]+)\s*$/im],
] as const;

/**
 * The key in an INFO request (RFC 6086); `none`: a signal other than a key, such as a flash; undefined if the body is
 * not about keys.
 */
export function digitOf(message: SipMessage): string | "none" | undefined {
  for (const [type, pattern] of TYPES) {
    const body = bodyPart(message, type);
    if (body === undefined) continue;
    const signal = pattern.exec(new TextDecoder().decode(body.subarray(0, 256)))?.[1] ?? "";
    const digit = /^1[0-5]$/.test(signal) ? EVENTS.charAt(Number(signal) - 10) : signal.toUpperCase();
    return /^[0-9*#A-D]$/.test(digit) ? digit : "none";
  }
  return undefined;
}

/** The application/dtmf-relay body of an INFO that carries a key. */
export function dtmfRelay(digit: string, durationMs: number): Uint8Array {
  return new TextEncoder().encode(`Signal=${digit}\r\nDuration=${Math.round(durationMs)}\r\n`);
}

/** Sends a key by INFO; resolves when the peer has accepted it. */
export function sendDigitByInfo(requests: DialogRequests, digit: string, durationMs: number): Promise<void> {
  const parts = { body: dtmfRelay(digit, durationMs), contentType: "application/dtmf-relay" };
  return new Promise((resolve, reject) => {
    requests.send("INFO", parts, {
      final: ({ status, reason }) => {
        if (status < 300) resolve();
        else reject(new Error(`the peer does not accept keys by INFO: ${status} ${reason}`));
      },
      failed: reject,
      abandoned: () => reject(new Error("the call ended before the peer accepted the key")),
    });
  });
}
