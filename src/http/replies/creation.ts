import type { CreateOptions, Creation } from "../../application/use-cases.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { Reply } from "../../ports/web.ts";
import type { RequestContext } from "../requests/request-context.ts";
import { jsonReply } from "./reply.ts";

/**
 * Reads the options in the headers of a POST.
 * @throws {Refusal} `idempotency_key_invalid`
 */
export function createOptions(context: RequestContext): CreateOptions {
  return { idempotencyKey: idempotencyKey(context.header("idempotency-key")), strict: isStrict(context) };
}

/** The response to a POST: 201 for a new record, 200 for an existing one. */
export function creationReply(context: RequestContext, creation: Creation, view: { readonly id: string }): Reply {
  const headers: Record<string, string> = {};
  if (creation.created) headers.location = `${context.base}${context.path}/${view.id}`;
  if (creation.replayed) headers["idempotent-replayed"] = "true";
  return jsonReply(creation.created ? 201 : 200, view, { ...headers, ...preferenceApplied(context) });
}

/** The header that confirms strict handling, if the request asked for it. */
export function preferenceApplied(context: RequestContext): Record<string, string> {
  return isStrict(context) ? { "preference-applied": "handling=strict" } : {};
}

/**
 * Parses the header, a structured string (draft-ietf-httpapi-idempotency-key-header-07 §2.1) whose quotes most clients
 * omit.
 */
function idempotencyKey(header: string | null): string | undefined {
  if (header === null) return undefined;
  const match = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/.exec(header);
  const key = match ? match[1]!.replace(/\\(["\\])/g, "$1") : header;
  if (!/^[!-~]{1,255}$/.test(key))
    throw new Refusal("idempotency_key_invalid", "the Idempotency-Key must be 1 to 255 visible ASCII characters");
  return key;
}

/** True for `Prefer: handling=strict` (RFC 7240 §4.4). */
function isStrict(context: RequestContext): boolean {
  const header = context.header("prefer");
  return header !== null && /(?:^|,)\s*handling\s*=\s*"?strict"?\s*(?:[,;]|$)/i.test(header);
}
