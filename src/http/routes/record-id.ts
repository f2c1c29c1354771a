import { Refusal, type RefusalCode } from "../../domain/refusal.ts";
import type { RequestContext } from "../requests/request-context.ts";

/** The form of every id. Other strings never reach the storage: PostgreSQL rejects a NUL. */
const ID_FORM = /^[\w-]{1,128}$/;

/** The instance id in the path. @throws {Refusal} `instance_not_found` if it is not a possible id */
export function instanceIdOf(context: RequestContext): string {
  return idOf(context, "instanceId", "instance_not_found", "there is no such instance");
}

/** The voice id in the path. @throws {Refusal} `voice_not_found` if it is not a possible id */
export function voiceIdOf(context: RequestContext): string {
  return idOf(context, "voiceId", "voice_not_found", 'there is no such voice; a voice id looks like "pt-BR-1"');
}

/** The webhook id in the path. @throws {Refusal} `webhook_not_found` if it is not a possible id */
export function webhookIdOf(context: RequestContext): string {
  return idOf(context, "webhookId", "webhook_not_found", "there is no such webhook");
}

/** The delivery id in the path. @throws {Refusal} `delivery_not_found` if it is not a possible id */
export function deliveryIdOf(context: RequestContext): string {
  return idOf(context, "deliveryId", "delivery_not_found", "there is no such delivery");
}

/** The id of a stored audio file in the path. @throws {Refusal} `audio_not_found` if it is not a possible id */
export function audioIdOf(context: RequestContext): string {
  return idOf(context, "audioId", "audio_not_found", "there is no such audio file");
}

/** The batch id in the path. @throws {Refusal} `batch_not_found` if it is not a possible id */
export function batchIdOf(context: RequestContext): string {
  return idOf(context, "batchId", "batch_not_found", "there is no such batch");
}

/** The position of a target in the path. @throws {Refusal} `target_not_found` if it is not a possible position */
export function positionOf(context: RequestContext): number {
  const position = context.params.position ?? "";
  if (!/^[1-9]\d{0,8}$/.test(position)) throw new Refusal("target_not_found", "there is no target at this position");
  return Number(position);
}

/** The call id in the path. @throws {Refusal} `call_not_found` if it is not a possible id */
export function callIdOf(context: RequestContext): string {
  return idOf(context, "callId", "call_not_found", "there is no such call");
}

function idOf(context: RequestContext, parameter: string, code: RefusalCode, detail: string): string {
  const id = context.params[parameter] ?? "";
  if (!ID_FORM.test(id)) throw new Refusal(code, detail);
  return id;
}
