import * as v from "valibot";
import {
  characters,
  isObject,
  issueText,
  type Schema,
  storableText,
  wholeMs,
  withJsonSchema,
} from "../input/input-checks.ts";
import { type ParseOptions, parseBody } from "../input/input-parser.ts";
import { metadataSchema } from "../input/metadata-input.ts";
import type { Metadata } from "../instances/instance.ts";
import type { Limits } from "../limits.ts";
import type { CallerId } from "../numbers/caller-id.ts";
import { type CallerIdInput, callerIdSchema } from "../numbers/caller-id-input.ts";
import { PHONE_NUMBER, PHONE_RULE } from "../numbers/phone-number.ts";
import { invalidInput } from "../refusal.ts";
import { CALL_TYPES, type CallType } from "./call.ts";
import {
  type CallMessageInput,
  type CheckedMessageInput,
  IGNORED_FIELD,
  IGNORED_FIELDS,
  messageEntries,
} from "./call-type-input.ts";
import { extensionSchema } from "./phone-extension.ts";
import { type SipInput, sipSchema, sipUriSchema } from "./sip-input.ts";

/** The body of `POST /v1/calls`: the fields of every call, and those of its type. */
export type CreateCallInput = CommonCallInput & CallMessageInput;

/** The fields that calls of all types have. */
export interface CommonCallInput {
  instanceId: string;
  target: {
    phoneNumber: string;
    /** The SIP URI that is called, on trunks that allow its host; the number remains the callee's. */
    sipUri?: string | undefined;
    /** Keys that are sent after the answer, before anything is heard: 0-9, *, #, and the pauses `w` and `,`. */
    extension?: string | undefined;
  };
  /** Records both sides of the call; ask the callee first. Default: false. */
  recording?: boolean | undefined;
  /** The caller, if the instance's provider lets calls choose; omitted fields are the instance's. */
  from?: CallerIdInput | undefined;
  /** A SIP call's choices for its INVITE. */
  sip?: SipInput | undefined;
  /** Maximum time in the queue, ms; up to 7 days. Default: the server's queue timeout. */
  expiresAfterMs?: number | undefined;
  /** The application's own name for the call, such as an order number; calls can be listed by it. */
  reference?: string | undefined;
  /** Data of the application, stored with the call. */
  metadata?: Metadata | undefined;
}

/** The fields of a checked body that calls of all types have. */
interface CheckedCommonInput extends Omit<CommonCallInput, "from"> {
  from?: CallerId | undefined;
}

/** A checked body of `POST /v1/calls`, without the fields of other types. */
export type CheckedCallInput = CheckedCommonInput & CheckedMessageInput;

/** The schemas of the body that creates a call. */
export interface CallSchemas {
  readonly createCall: { readonly [T in CallType]: Schema<Extract<CheckedCallInput, { type: T }>> };
  /** For a body without a known type: finds the faults that can be found without it. */
  readonly createCallOfUnknownType: Schema<{ type: CallType }>;
}

/** Maximum length of an `instanceId` that is looked up, characters; ids have 31. */
const INSTANCE_ID_LENGTH = 100;

/** The schemas for these limits. */
export function callSchemas(limits: Limits): CallSchemas {
  const common = {
    instanceId: v.pipe(
      v.string(),
      v.minLength(1, issueText("too_short", "must not be empty")),
      v.maxLength(INSTANCE_ID_LENGTH, issueText("too_long", `at most ${INSTANCE_ID_LENGTH} characters are allowed`)),
    ),
    target: v.object({
      phoneNumber: v.pipe(v.string(), v.regex(PHONE_NUMBER, issueText("phone_number_invalid", PHONE_RULE))),
      sipUri: v.optional(sipUriSchema()),
      extension: v.optional(extensionSchema()),
    }),
    ...IGNORED_FIELDS,
    recording: v.optional(
      withJsonSchema(v.boolean(), {
        type: "boolean",
        description:
          "Records both sides of the call, for `GET /v1/calls/:callId/recording`. Ask the callee first. Default: false.",
      }),
    ),
    from: v.optional(
      callerIdSchema(
        "The number that the call comes from, or number, name and whether both are withheld, if the provider lets calls choose. " +
          "Omitted fields are taken from the instance.",
      ),
    ),
    sip: v.optional(sipSchema()),
    expiresAfterMs: v.optional(
      wholeMs(
        1,
        MAX_QUEUE_MS,
        "How long the call may wait in its queue, ms: for its line, or for its calling hours. Default: the server's queue timeout.",
      ),
    ),
    reference: v.optional(referenceSchema(limits)),
    metadata: v.optional(metadataSchema(limits)),
  };
  const entries = messageEntries(limits);
  const createCall = Object.fromEntries(
    CALL_TYPES.map((type) => [type, v.object({ ...common, ...entries[type] })]),
  ) as unknown as CallSchemas["createCall"];
  const createCallOfUnknownType = v.object({
    ...common,
    type: v.picklist(CALL_TYPES, issueText("value_invalid", `must be one of ${CALL_TYPES.join(", ")}`)),
  });
  return { createCall, createCallOfUnknownType };
}

/**
 * The checked body of `POST /v1/calls`, without the fields of other types.
 * @throws {Refusal} with all faults
 */
export function parseCall(schemas: CallSchemas, body: unknown, options: ParseOptions): CheckedCallInput {
  const typeName = isObject(body) ? body.type : undefined;
  const knownType = CALL_TYPES.find((name) => name === typeName);
  const type = knownType ?? parseBody(schemas.createCallOfUnknownType, body, options).type;
  const schema: Schema<CheckedCallInput> = schemas.createCall[type];
  const input = parseBody(schema, body, options);
  const { entries } = schema as { entries?: Readonly<Record<string, unknown>> };
  for (const name in entries) if (entries[name] === IGNORED_FIELD) Reflect.deleteProperty(input, name);
  checkExtension(input);
  return input;
}

/**
 * @throws {Refusal} if a policy for machines is combined with an extension: the switchboard would be taken for the
 *   machine
 */
function checkExtension(input: CheckedCallInput): void {
  if (input.target.extension === undefined) return;
  const policies = {
    "/agent/onMachine": "agent" in input ? input.agent.onMachine : undefined,
    "/onMachine": "onMachine" in input ? input.onMachine : undefined,
    "/onScreening": "onScreening" in input ? input.onScreening : undefined,
  };
  const detail =
    'must be "continue" with target.extension: the switchboard that answers sounds like a machine, and no person has answered yet';
  const [fault, ...moreFaults] = Object.entries(policies)
    .filter(([, policy]) => policy !== undefined && policy !== "continue")
    .map(([pointer]) => ({ pointer, code: "value_invalid" as const, detail }));
  if (fault) throw invalidInput([fault, ...moreFaults]);
}

/** Longest time that a call may wait in its queue, ms. */
export const MAX_QUEUE_MS: number = 7 * 86_400_000;

/** The schema of a reference. Calls are looked up by it, so databases must be able to store it unchanged. */
function referenceSchema(limits: Limits): Schema<string> {
  const schema = v.pipe(
    v.string(),
    characters(1, limits.referenceLength, "the reference"),
    storableText("the reference"),
  );
  return withJsonSchema(schema, {
    type: "string",
    minLength: 1,
    maxLength: limits.referenceLength,
    description: "Your own name for the call, such as an order number. `GET /v1/calls?reference=` finds calls by it.",
  });
}
