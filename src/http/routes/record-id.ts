import { Refusal } from "../../domain/refusal.ts";
import type { RequestContext } from "../request-context.ts";

/** Longer or stranger ids never reach the storage; PostgreSQL would choke on a NUL. */
const POSSIBLE = /^[\w-]{1,128}$/;

/** The instance that the path names. @throws {Refusal} `instance_not_found` where no instance can have such an id */
export function instanceIdOf(context: RequestContext): string {
  const id = context.params.instanceId ?? "";
  if (!POSSIBLE.test(id)) throw new Refusal("instance_not_found", "there is no such instance");
  return id;
}

/** The voice that the path names. @throws {Refusal} `voice_not_found` where no voice can have such an id */
export function voiceIdOf(context: RequestContext): string {
  const id = context.params.voiceId ?? "";
  if (!POSSIBLE.test(id))
    throw new Refusal("voice_not_found", 'there is no such voice; a voice id looks like "pt-BR-1"');
  return id;
}

/** The call that the path names. @throws {Refusal} `call_not_found` where no call can have such an id */
export function callIdOf(context: RequestContext): string {
  const id = context.params.callId ?? "";
  if (!POSSIBLE.test(id)) throw new Refusal("call_not_found", "there is no such call");
  return id;
}
