import type { WebhookHeaders } from "../../domain/webhooks/webhook-headers.ts";
import type { Vault } from "./vault.ts";

/**
 * Returns the stored form of a webhook's headers: their names and their sealed values. `sealedHeaders` is null without
 * headers.
 */
export async function sealHeaders(
  vault: Pick<Vault, "seal">,
  webhookId: string,
  headers: WebhookHeaders | null,
): Promise<{ readonly headerNames: readonly string[]; readonly sealedHeaders: Uint8Array | null }> {
  const headerNames = Object.keys(headers ?? {}).sort();
  if (headerNames.length === 0) return { headerNames, sealedHeaders: null };
  const bytes = new TextEncoder().encode(JSON.stringify(headers));
  return { headerNames, sealedHeaders: await vault.seal(sealedHeadersId(webhookId), bytes) };
}

/** Unseals the headers of a webhook. */
export async function openHeaders(
  vault: Pick<Vault, "open">,
  webhookId: string,
  sealed: Uint8Array | null,
): Promise<WebhookHeaders> {
  if (!sealed) return {};
  return JSON.parse(new TextDecoder().decode(await vault.open(sealedHeadersId(webhookId), sealed)));
}

/**
 * The id under which a webhook's headers are sealed. The webhook's keys are sealed under another id, so that neither
 * can replace the other.
 */
export function sealedHeadersId(webhookId: string): string {
  return `${webhookId}\0headers`;
}
