import { errorText } from "../../base/error.ts";
import { within } from "../../base/timers.ts";
import type { Webhook } from "../../domain/webhooks/webhook.ts";
import type { AttemptResult } from "../../domain/webhooks/webhook-retries.ts";
import { signedHeaders } from "../../domain/webhooks/webhook-signature.ts";
import type { Context } from "../context.ts";
import { openHeaders } from "../encryption/sealed-headers.ts";
import { storedTime } from "../stored-times.ts";

/** Maximum time for an endpoint to respond, ms. */
export const ATTEMPT_MS = 15_000;
/** Maximum length of an error that is stored, characters. */
const ERROR_LENGTH = 300;

/**
 * Sends a message once, signed with the key of its webhook and, after a rotation, with the old key too.
 * @param endSignal ends the attempt
 * @throws `endSignal`'s reason when it is aborted; the attempt's result is then unknown
 */
export async function attempt(
  { system, vault, webhookSender }: Pick<Context, "system" | "vault" | "webhookSender">,
  webhook: Webhook,
  { id, body }: { readonly id: string; readonly body: string },
  endSignal: AbortSignal,
): Promise<AttemptResult> {
  const scope = new AbortController();
  try {
    const timestamp = system.now();
    const sealedKeys = [webhook.sealedKey];
    const oldKeyUntil = storedTime("webhooks.old_key_until", webhook.oldKeyUntil ?? 0, timestamp);
    if (webhook.sealedOldKey && oldKeyUntil > timestamp) sealedKeys.push(webhook.sealedOldKey);
    const keys = await Promise.all(sealedKeys.map((key) => vault.open(webhook.id, key)));
    const signatureHeaders = await signedHeaders({ id, timestamp, body }, keys);
    const { userId, url } = webhook;
    const webhookHeaders = await openHeaders(vault, webhook.id, webhook.sealedHeaders);
    const headers = {
      ...webhookHeaders,
      "content-type": "application/json",
      "user-agent": "Ringport-Webhooks",
      ...signatureHeaders,
    };
    const statusPromise = webhookSender.post({ userId, url, headers, body, signal: scope.signal });
    statusPromise.catch(() => {}); // it may reject after the time is up
    const timeoutError = () => new Error(`the endpoint did not respond within ${ATTEMPT_MS} ms`);
    return { status: await within(statusPromise, { system, ms: ATTEMPT_MS, timeoutError, signal: endSignal }) };
  } catch (error) {
    endSignal.throwIfAborted();
    return { error: errorText(error).slice(0, ERROR_LENGTH) };
  } finally {
    scope.abort();
  }
}
