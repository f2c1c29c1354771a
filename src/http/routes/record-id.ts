import { Refusal } from "../../domain/refusal.ts";
import type { RequestContext } from "../request-context.ts";

/** The form of every id. Other texts never reach the storage: PostgreSQL rejects a NUL. */
const POSSIBLE = /^[\w-]{1,128}$/;

/** The instance id in the path. @throws {Refusal} `instance_not_found` if it is not a possible id */
export function instanceIdOf(context: RequestContext): string {
  const id = context.params.instanceId ?? "";
  if (!POSSIBLE.test(id)) throw new Refusal("instance_not_found", "there is no such instance");
  return id;
}

/** The voice id in the path. @throws {Refusal} `voice_not_found` if it is not a possible id */
export function voiceIdOf(context: RequestContext): string {
  const id = context.params.voiceId ?? "";
  if (!POSSIBLE.test(id))
    throw new Refusal("voice_not_found", 'there is no such voice; a voice id looks like "pt-BR-1"');
  return id;
}

/** The webhook id in the path. @throws {Refusal} `webhook_not_found` if it is not a possible id */
export function webhookIdOf(context: RequestContext): string {
  const id = context.params.webhookId ?? "";
  if (!POSSIBLE.test(id)) throw new Refusal("webhook_not_found", "there is no such webhook");
  return id;
}

/** The delivery id in the path. @throws {Refusal} `delivery_not_found` if it is not a possible id */
export function deliveryIdOf(context: RequestContext): string {
  const id = context.params.deliveryId ?? "";
  if (!POSSIBLE.test(id)) throw new Refusal("delivery_not_found", "there is no such delivery");
  return id;
}

/** The call id in the path. @throws {Refusal} `call_not_found` if it is not a possible id */
export function callIdOf(context: RequestContext): string {
  const id = context.params.callId ?? "";
  if (!POSSIBLE.test(id)) throw new Refusal("call_not_found", "there is no such call");
  return id;
}
