import { decodeBase64, encodeBase64 } from "../../base/base64.ts";

/** Length of a new key, bytes; Standard Webhooks demands 24 to 64. */
const KEY_BYTES = 32;
const PREFIX = "whsec_";

/** A new key. @param random fills an array with random bytes */
export function newWebhookKey(random: (bytes: Uint8Array) => void): Uint8Array<ArrayBuffer> {
  const key = new Uint8Array(KEY_BYTES);
  random(key);
  return key;
}

/** The key in the form shown to its user: `whsec_` and Base64. */
export function webhookSecret(key: Uint8Array): string {
  return PREFIX + encodeBase64(key);
}

/** The key of a secret, with or without its prefix; undefined if the rest is not Base64 of at least one byte. */
export function webhookKey(secret: string): Uint8Array<ArrayBuffer> | undefined {
  const key = decodeBase64(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret);
  return key && key.length > 0 ? key : undefined;
}

/** A message of Standard Webhooks. */
export interface WebhookMessage {
  /** Stays the same in every attempt. */
  readonly id: string;
  /** Time at which this attempt starts, ms since 1970-01-01 UTC. */
  readonly timestamp: number;
  readonly body: string;
}

/**
 * The headers of a message, signed with every key (Standard Webhooks 1.0, symmetric).
 * @param keys the current key first, then an older one that is still valid after a rotation
 */
export async function signedHeaders(
  { id, timestamp, body }: WebhookMessage,
  keys: readonly Uint8Array<ArrayBuffer>[],
): Promise<Record<string, string>> {
  const seconds = Math.floor(timestamp / 1000);
  const content = new TextEncoder().encode(`${id}.${seconds}.${body}`);
  const signatures = await Promise.all(keys.map((key) => signature(content, key)));
  return {
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": signatures.join(" "),
  };
}

async function signature(content: Uint8Array<ArrayBuffer>, key: Uint8Array<ArrayBuffer>): Promise<string> {
  const hmac = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return `v1,${encodeBase64(new Uint8Array(await crypto.subtle.sign("HMAC", hmac, content)))}`;
}
