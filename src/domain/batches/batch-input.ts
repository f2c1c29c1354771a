import * as v from "valibot";
import { onMachineSchema } from "../agents/agent-input.ts";
import type { CreateCallInput } from "../calls/call-input.ts";
import type { CallMessageInput } from "../calls/call-type-input.ts";
import { extensionSchema } from "../calls/phone-extension.ts";
import { areValidHours } from "../dialling-rules/number-protection-input.ts";
import { characters, isObject, issueText, type Schema, storableText, withJsonSchema } from "../input/input-checks.ts";
import { metadataSchema } from "../input/metadata-input.ts";
import type { Metadata } from "../instances/instance.ts";
import type { Limits } from "../limits.ts";
import { PHONE_NUMBER, PHONE_RULE } from "../numbers/phone-number.ts";
import { BATCH_CALL_TYPES, type BatchMessage, type BatchSchedule, type TargetVariables } from "./batch.ts";
import { RETRY_REASONS, type RetryPolicy, type RetryReason } from "./retry.ts";

/**
 * The message of a batch: the fields of `POST /v1/calls`, except the instance, the target, the reference and the
 * metadata.
 */
export type BatchMessageInput = Exclude<CallMessageInput, { type: "DYNAMIC_STREAM" }> &
  Pick<CreateCallInput, "recording" | "from" | "sip">;

/** The body of `POST /v1/batches`. */
export interface CreateBatchInput {
  name: string;
  /** The instances that place the calls. */
  instanceIds: readonly string[];
  message: BatchMessageInput;
  /** The first targets; more can be added until the start. */
  targets?: readonly TargetInput[] | undefined;
  schedule?: ScheduleInput | undefined;
  /** Default: no target is called again. */
  retry?: RetryInput | undefined;
  /** Maximum number of concurrent calls. Default: as many as the instances carry. */
  maxConcurrent?: number | undefined;
  /** Minimum time between a call to a callee outside of the batch and one in it, ms. Default: 900,000. */
  gapMs?: number | undefined;
  /**
   * Pauses the batch if a share of its last calls failed for the same reason. Default: 0.5 of 20 calls; `false`
   * switches it off.
   */
  breaker?: { share: number; calls: number } | false | undefined;
  /** Behaviour once a machine has answered; as `message.onMachine`. */
  onMachine?: "continue" | "hang_up" | "leave_message" | undefined;
  /** Starts the batch at once. Default: false. */
  start?: boolean | undefined;
  /** Stores no batch: the response is the plan. Default: false. */
  dryRun?: boolean | undefined;
}

/** One callee. */
export interface TargetInput {
  phoneNumber: string;
  extension?: string | undefined;
  /** Values for the placeholders of the message. */
  variables?: TargetVariables | undefined;
  reference?: string | undefined;
  metadata?: Metadata | undefined;
}

/** The body of `PATCH /v1/batches/:batchId/targets/:position`: the fields to change; null removes a field. */
export type UpdateTargetInput = {
  [Field in keyof TargetInput]?: Field extends "phoneNumber" ? TargetInput[Field] : TargetInput[Field] | null;
};

/** The times at which calls may be dialled. */
export interface ScheduleInput {
  /** ISO 8601 with a zone. */
  startAt?: string | undefined;
  endAt?: string | undefined;
  /** Local hours, `HH:MM`, and ISO weekdays (1 Monday to 7 Sunday; default: every day). */
  hours?: { from: string; to: string; days?: readonly number[] | undefined } | undefined;
  /** `callee`, or an IANA name. Default: `callee`. */
  zone?: string | undefined;
}

/** Conditions on which a target is called again. */
export interface RetryInput {
  on: readonly RetryReason[];
  /** Maximum number of further calls, 1 to 20. Default: 1. */
  times?: number | undefined;
  /** Time to the next call, ms, instead of `backoff`. Default: 900,000. */
  afterMs?: number | undefined;
  backoff?: { firstMs: number; factor?: number | undefined; maxMs?: number | undefined } | undefined;
}

/** The schemas of the request bodies about batches. */
export interface BatchSchemas {
  readonly createBatch: Schema<CheckedBatchInput>;
  readonly target: Schema<TargetInput>;
  readonly startBatch: Schema<StartBatchInput>;
  readonly cancelBatch: Schema<CancelBatchInput>;
}

/** A checked body of `POST /v1/batches`; its message and targets are checked later. */
export type CheckedBatchInput = Omit<CreateBatchInput, "message" | "targets"> & {
  message: Readonly<Record<string, unknown>> & { type: BatchMessage["type"] };
  targets?: readonly unknown[] | undefined;
};

/** The body of `POST /v1/batches/:batchId/start`. */
export interface StartBatchInput {
  /** Starts the batch even if some targets are invalid; those are not called. Default: false. */
  skipInvalid?: boolean | undefined;
}

/** The body of `POST /v1/batches/:batchId/cancel`. */
export interface CancelBatchInput {
  /** `finish`: live calls continue to their end; `end`: they end now. Default: `finish`. */
  liveCalls?: "finish" | "end" | undefined;
}

/** Maximum number of instances that a batch calls from. */
const MAX_INSTANCES = 1_000;
const MAX_CONCURRENT = 10_000;
const MAX_RETRIES = 20;
const DAY_MS = 86_400_000;
/** Maximum time between two calls to a target, ms. */
export const MAX_WAIT_MS: number = 30 * DAY_MS;
const MAX_VARIABLES = 100;
/** Maximum length of a value quoted in a fault, characters. */
const MAX_QUOTED = 60;
const VARIABLE_NAME = /^[A-Za-z]\w{0,63}$/;
const MESSAGE_FIELDS = ["instanceId", "target", "reference", "metadata"];

/** The schemas for these limits. */
export function batchSchemas(limits: Limits): BatchSchemas {
  const wholeNumber = (min: number, max: number, unit = "") =>
    v.pipe(
      v.number(),
      v.check(
        (value) => Number.isSafeInteger(value) && value >= min && value <= max,
        issueText("value_invalid", `must be a whole number from ${min} to ${max}${unit}`),
      ),
    );
  const name = v.pipe(v.string(), v.trim(), characters(1, limits.nameLength, "the name"), storableText("the name"));
  const message = withJsonSchema(
    v.pipe(
      v.looseObject({
        type: v.picklist(BATCH_CALL_TYPES, issueText("value_invalid", `must be one of ${BATCH_CALL_TYPES.join(", ")}`)),
      }),
      v.rawCheck(({ dataset, addIssue }) => {
        if (!dataset.typed) return;
        const field = MESSAGE_FIELDS.find((key) => Object.hasOwn(dataset.value, key));
        if (field !== undefined)
          addIssue({
            message: issueText(
              "value_invalid",
              `"${field}" belongs to the batch or to its targets, not to the message`,
            ),
          });
      }),
    ),
    {
      type: "object",
      required: ["type"],
      properties: { type: { type: "string", enum: BATCH_CALL_TYPES } },
      additionalProperties: true,
      description:
        "The fields of POST /v1/calls except instanceId, target, reference and metadata. Texts in tts and agent may contain {{variables}} of the targets.",
    },
  );
  const target = v.object({
    phoneNumber: v.pipe(v.string(), v.regex(PHONE_NUMBER, issueText("phone_number_invalid", PHONE_RULE))),
    extension: v.optional(extensionSchema()),
    variables: v.optional(variablesSchema(limits)),
    reference: v.optional(
      v.pipe(v.string(), characters(1, limits.referenceLength, "the reference"), storableText("the reference")),
    ),
    metadata: v.optional(metadataSchema(limits)),
  });
  return {
    target,
    startBatch: v.object({ skipInvalid: v.optional(v.boolean()) }),
    cancelBatch: v.object({
      liveCalls: v.optional(v.picklist(["finish", "end"], issueText("value_invalid", 'must be "finish" or "end"'))),
    }),
    createBatch: v.object({
      name,
      instanceIds: v.pipe(
        v.array(v.string()),
        v.minLength(1, issueText("too_short", "name at least one instance")),
        v.maxLength(MAX_INSTANCES, issueText("too_long", `at most ${MAX_INSTANCES} instances are allowed`)),
        v.check((ids) => new Set(ids).size === ids.length, issueText("value_invalid", "names an instance twice")),
      ),
      message,
      targets: v.optional(
        withJsonSchema(v.array(v.unknown()), {
          type: "array",
          items: { $ref: "#/components/schemas/BatchTargetInput" },
        }),
      ),
      schedule: v.optional(scheduleSchema()),
      retry: v.optional(retrySchema(wholeNumber)),
      maxConcurrent: v.optional(wholeNumber(1, MAX_CONCURRENT)),
      gapMs: v.optional(wholeNumber(0, MAX_WAIT_MS, " ms")),
      breaker: v.optional(
        v.union(
          [
            v.literal(false),
            v.object({
              share: v.pipe(
                v.number(),
                v.check(
                  (share) => share > 0 && share <= 1,
                  issueText("value_invalid", "must be a share above 0 and at most 1"),
                ),
              ),
              calls: wholeNumber(1, 1_000),
            }),
          ],
          issueText("value_invalid", "must be false, or share and calls"),
        ),
      ),
      onMachine: v.optional(onMachineSchema()),
      start: v.optional(v.boolean()),
      dryRun: v.optional(v.boolean()),
    }),
  };
}

function variablesSchema(limits: Limits): Schema<TargetVariables> {
  const schema = v.pipe(
    v.any(),
    v.rawCheck<unknown>(({ dataset: { value }, addIssue }) => {
      if (!isObject(value)) return addIssue({ message: issueText("type_invalid", "must be an object") });
      const entries = Object.entries(value);
      if (entries.length > MAX_VARIABLES)
        return addIssue({
          message: issueText("too_long", `has ${entries.length} variables, at most ${MAX_VARIABLES} are allowed`),
        });
      for (const [name, item] of entries) {
        if (!VARIABLE_NAME.test(name))
          addIssue({
            message: issueText(
              "value_invalid",
              `"${name.slice(0, 70)}" is not the name of a variable: use 1 to 64 letters, digits and _, starting with a letter`,
            ),
          });
        else if (!["string", "number", "boolean"].includes(typeof item))
          addIssue({
            message: issueText("type_invalid", `the variable ${name} must be a string, a number, or true or false`),
          });
        else if (typeof item === "string" && item.length > limits.textLength)
          addIssue({
            message: issueText(
              "too_long",
              `the variable ${name} has ${item.length} characters, at most ${limits.textLength} are allowed`,
            ),
          });
      }
    }),
  );
  return withJsonSchema(schema, {
    type: "object",
    maxProperties: MAX_VARIABLES,
    additionalProperties: { type: ["string", "number", "boolean"] },
    description: "Values for the {{variables}} of the message.",
  }) as Schema<TargetVariables>;
}

function scheduleSchema(): Schema<ScheduleInput> {
  const time = v.pipe(
    v.string(),
    v.check(
      (text) => ISO_TIME.test(text) && !Number.isNaN(Date.parse(text)),
      issueText("value_invalid", "must be a time with a zone, such as 2026-12-01T10:00:00-03:00"),
    ),
  );
  const clock = v.string();
  return v.pipe(
    v.object({
      startAt: v.optional(
        withJsonSchema(time, {
          type: "string",
          format: "date-time",
          description: "No call is placed before this time.",
        }),
      ),
      endAt: v.optional(
        withJsonSchema(time, {
          type: "string",
          format: "date-time",
          description: "No call is placed from this time on; targets that still wait then fail.",
        }),
      ),
      hours: v.optional(
        v.pipe(
          v.object({ from: clock, to: clock, days: v.optional(v.array(v.number())) }),
          v.check(
            ({ from, to, days }) => areValidHours({ from, until: to, days }),
            issueText(
              "value_invalid",
              'from must be a time such as "09:00", to a later one, at most "24:00", and days a list of 1 (Monday) to 7 (Sunday)',
            ),
          ),
        ),
      ),
      zone: v.optional(
        v.pipe(
          v.string(),
          v.check(isTimeZone, ({ input }) =>
            issueText(
              "value_invalid",
              `must be "callee" or an IANA time zone, such as America/Sao_Paulo, not "${input.slice(0, MAX_QUOTED)}"`,
            ),
          ),
        ),
      ),
    }),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const { startAt, endAt } = dataset.value;
      if (startAt !== undefined && endAt !== undefined && Date.parse(endAt) <= Date.parse(startAt))
        addIssue({ message: issueText("value_invalid", "endAt must be later than startAt") });
    }),
  );
}

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/i;

function isTimeZone(zone: string): boolean {
  if (zone === "callee") return true;
  if (zone.length > 64) return false;
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

function retrySchema(wholeNumber: (min: number, max: number, unit?: string) => Schema<number>): Schema<RetryInput> {
  return v.pipe(
    v.object({
      on: v.pipe(
        v.array(
          v.picklist(RETRY_REASONS, ({ input }) =>
            issueText(
              "value_invalid",
              `must be one of ${RETRY_REASONS.join(", ")}, not ${JSON.stringify(input)?.slice(0, MAX_QUOTED)}`,
            ),
          ),
        ),
        v.minLength(1, issueText("too_short", "name at least one reason, or omit retry")),
        v.maxLength(RETRY_REASONS.length, issueText("too_long", `at most ${RETRY_REASONS.length} reasons are allowed`)),
      ),
      times: v.optional(wholeNumber(1, MAX_RETRIES)),
      afterMs: v.optional(wholeNumber(1_000, MAX_WAIT_MS, " ms")),
      backoff: v.optional(
        v.object({
          firstMs: wholeNumber(1_000, MAX_WAIT_MS, " ms"),
          factor: v.optional(
            v.pipe(
              v.number(),
              v.check((factor) => factor >= 1 && factor <= 10, issueText("value_invalid", "must be from 1 to 10")),
            ),
          ),
          maxMs: v.optional(wholeNumber(1_000, MAX_WAIT_MS, " ms")),
        }),
      ),
    }),
    v.check(
      ({ afterMs, backoff }) => afterMs === undefined || backoff === undefined,
      issueText("value_invalid", "name afterMs or backoff, not both"),
    ),
  );
}

/** Default time between two calls to a target, ms. */
const DEFAULT_RETRY_MS = 15 * 60_000;

/** The retry policy of an input. */
export function retryPolicyOf({ on, times = 1, afterMs = DEFAULT_RETRY_MS, backoff }: RetryInput): RetryPolicy {
  const { firstMs = afterMs, factor = backoff ? 2 : 1, maxMs = MAX_WAIT_MS } = backoff ?? {};
  return { on: [...new Set(on)], times, backoff: { firstMs, factor, maxMs } };
}

/** The schedule of an input. */
export function scheduleOf({ startAt, endAt, hours, zone }: ScheduleInput): BatchSchedule {
  return {
    ...(startAt !== undefined && { startAt: Date.parse(startAt) }),
    ...(endAt !== undefined && { endAt: Date.parse(endAt) }),
    ...(hours && { hours: { from: hours.from, until: hours.to, ...(hours.days && { days: hours.days }) } }),
    ...(zone !== undefined && { zone }),
  };
}
