import { type BatchSchemas, batchSchemas } from "../batches/batch-input.ts";
import { type CheckedAudioInput, createAudioSchema } from "../calls/audio-schemas.ts";
import { type CallSchemas, type CheckedCallInput, callSchemas, parseCall } from "../calls/call-input.ts";
import {
  type CheckedInstanceInput,
  type CheckedInstanceUpdate,
  type InstanceSchemas,
  instanceSchemas,
} from "../instances/instance-input.ts";
import type { Limits } from "../limits.ts";
import type { Fault } from "../refusal.ts";
import {
  type CreateWebhookInput,
  type UpdateWebhookInput,
  WEBHOOK_SCHEMAS,
  type WebhookSchemas,
} from "../webhooks/webhook-input.ts";
import type { Schema } from "./input-checks.ts";
import { parseBody } from "./input-parser.ts";

/** The schemas of all request bodies; they check requests, and `/openapi.json` is made from them. */
export interface InputSchemas extends InstanceSchemas, CallSchemas, WebhookSchemas, BatchSchemas {
  readonly createAudio: Schema<CheckedAudioInput>;
  /** True if unknown fields are refused. */
  readonly strict: boolean;
}

/** The schemas for these limits; `strict` refuses unknown fields. */
export function inputSchemas(limits: Limits, { strict = false }: { strict?: boolean } = {}): InputSchemas {
  return {
    ...instanceSchemas(limits),
    ...callSchemas(limits),
    ...WEBHOOK_SCHEMAS,
    ...batchSchemas(limits),
    createAudio: createAudioSchema(limits),
    strict,
  };
}

/**
 * The checked body of `POST /v1/instances`.
 * @param stateFaults faults that depend on the server's state; they are reported together with the others
 * @throws {Refusal} with all faults
 */
export function parseCreateInstance(
  { createInstance, strict }: InputSchemas,
  body: unknown,
  stateFaults: readonly Fault[] = [],
): CheckedInstanceInput {
  return parseBody(createInstance, body, { strict, stateFaults });
}

/**
 * The checked body of `PATCH /v1/instances/:instanceId`.
 * @throws {Refusal} with all faults
 */
export function parseUpdateInstance({ updateInstance, strict }: InputSchemas, body: unknown): CheckedInstanceUpdate {
  return parseBody(updateInstance, body, { strict });
}

/**
 * The checked body of `POST /v1/webhooks`.
 * @param stateFaults faults that depend on the server's settings; they are reported together with the others
 * @throws {Refusal} with all faults
 */
export function parseCreateWebhook(
  { createWebhook, strict }: InputSchemas,
  body: unknown,
  stateFaults: readonly Fault[],
): CreateWebhookInput {
  return parseBody(createWebhook, body, { strict, stateFaults });
}

/** The checked body of `PATCH /v1/webhooks/:webhookId`; as {@link parseCreateWebhook}. */
export function parseUpdateWebhook(
  { updateWebhook, strict }: InputSchemas,
  body: unknown,
  stateFaults: readonly Fault[],
): UpdateWebhookInput {
  return parseBody(updateWebhook, body, { strict, stateFaults });
}

/**
 * The checked body of `POST /v1/calls`, without the fields of other types.
 * @param stateFaults faults that depend on the server's state; they are reported together with the others
 * @throws {Refusal} with all faults
 */
export function parseCreateCall(
  schemas: InputSchemas,
  body: unknown,
  stateFaults: readonly Fault[] = [],
): CheckedCallInput {
  return parseCall(schemas, body, { strict: schemas.strict, stateFaults });
}
