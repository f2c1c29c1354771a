import * as v from "valibot";
import { type AudioPlace, audioFault, DecodedAudio } from "./audio-input.ts";
import { CALL_TYPES, type CallType } from "./call.ts";
import type { CallerId } from "./caller-id.ts";
import { type CallerIdInput, callerIdSchema } from "./caller-id-input.ts";
import { describedAs, isObject, JSON_SCHEMAS, PHONE_NUMBER, PHONE_RULE, says } from "./input-checks.ts";
import type { Metadata } from "./instance.ts";
import type { Limits } from "./limits.ts";
import { type Fault, invalidInput, type RefusalCode } from "./refusal.ts";

export { JSON_SCHEMAS };

/** The body of `POST /v1/instances`. */
export interface CreateInstanceInput {
  name: string;
  metadata?: Metadata | undefined;
  provider?: string | undefined;
  /** The caller of its calls, where its provider lets them choose. Default: the provider's own. */
  callerId?: CallerIdInput | undefined;
}

/** The body of `PATCH /v1/instances/:instanceId`; what is left out stays as it is. */
export interface UpdateInstanceInput {
  name?: string | undefined;
  /** Takes the place of all metadata. */
  metadata?: Metadata | undefined;
  /** For calls that are created from now on; null: the provider's own caller. */
  callerId?: CallerIdInput | null | undefined;
}

/** A checked body of `POST /v1/instances`. */
export type CheckedInstanceInput = Omit<CreateInstanceInput, "callerId"> & { callerId?: CallerId | undefined };

/** A checked body of `PATCH /v1/instances/:instanceId`. */
export type CheckedInstanceUpdate = Omit<UpdateInstanceInput, "callerId"> & { callerId?: CallerId | null | undefined };

/** The body of `POST /v1/calls`. A field that belongs to another type is ignored. */
export interface CreateCallInput {
  instanceId: string;
  type: CallType;
  target: { phoneNumber: string };
  tts?: { text: string; voiceId: string } | undefined;
  audio?: { audioBase64: string } | undefined;
  agent?: { instructions: string[] } | undefined;
  /** Records both sides of the call; whoever asks for this has asked the callee first. Default: false. */
  recording?: boolean | undefined;
  /** The caller, where the instance's provider lets calls choose; what it leaves out is the instance's. */
  from?: CallerIdInput | undefined;
}

/** A checked body of `POST /v1/calls`. */
export type CheckedCallInput = Omit<CreateCallInput, "audio" | "from"> & {
  from?: CallerId | undefined;
  audio?: AudioPlace | undefined;
};

/** A language-region tag and a number. */
const VOICE_ID = /^[a-z]{2,3}-([A-Z]{2}|[0-9]{3})-[1-9][0-9]?$/;
const PROVIDER_LENGTH = 64;
/** Ids have 31 characters; a shorter text that is none is refused as the id of an unknown instance. */
const INSTANCE_ID_LENGTH = 100;

/**
 * The phone number, if it is one.
 * @throws {Refusal} `phone_number_invalid`
 */
export function checkedPhone(phone: unknown, pointer: string): string {
  if (typeof phone === "string" && PHONE_NUMBER.test(phone)) return phone;
  throw invalidInput([{ pointer, code: "phone_number_invalid", detail: PHONE_RULE }]);
}

type Schema<T> = v.GenericSchema<unknown, T>;

/** The schemas of all request bodies: what is checked is what `/openapi.json` says. */
export interface InputSchemas {
  readonly createInstance: Schema<CheckedInstanceInput>;
  readonly updateInstance: Schema<CheckedInstanceUpdate>;
  readonly createCall: Readonly<Record<CallType, Schema<CheckedCallInput>>>;
  /** Fields that nobody knows are refused. */
  readonly strict: boolean;
  /** For a body whose type is missing or unknown: finds every fault that can be found without it. */
  readonly createCallOfUnknownType: Schema<unknown>;
}

/** As JSON Schema counts, in which an emoji is one character and not two. */
function codePoints(text: string): number {
  let pairs = 0;
  for (let at = 1; at < text.length; at++)
    if ((text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800) pairs++;
  return text.length - pairs;
}

/** The schemas for these limits; `strict` also refuses fields that nobody knows. */
export function inputSchemas(limits: Limits, { strict = false }: { strict?: boolean } = {}): InputSchemas {
  const characters = (min: number, max: number, what: string) =>
    describedAs(
      v.rawCheck<string>(({ dataset, addIssue }) => {
        if (!dataset.typed) return;
        const length = dataset.value.length > 4 * max ? dataset.value.length : codePoints(dataset.value);
        if (length < min) addIssue({ message: says("too_short", `${what} must not be empty`) });
        if (length > max)
          addIssue({ message: says("too_long", `${what} has ${length} characters, at most ${max} are allowed`) });
      }),
      { minLength: min, maxLength: max },
    );

  const name = v.pipe(
    v.string(),
    v.trim(),
    characters(1, limits.nameLength, "the name"),
    // No database keeps them as they are.
    v.check(
      (name) => !/[\0\p{Cs}]/u.test(name),
      says("value_invalid", "the name must not contain the character U+0000, nor half of a surrogate pair"),
    ),
  );
  const createInstance = v.object({
    name,
    metadata: v.optional(metadataSchema(limits)),
    provider: v.optional(
      v.pipe(
        v.string(),
        v.maxLength(PROVIDER_LENGTH, says("too_long", `at most ${PROVIDER_LENGTH} characters are allowed`)),
      ),
    ),
    callerId: v.optional(
      callerIdSchema(
        "The number that its calls come from, or number, name and whether both are withheld, where the provider lets calls choose.",
      ),
    ),
  });
  const updateInstance = v.object({
    name: v.optional(name),
    metadata: v.optional(metadataSchema(limits)),
    callerId: v.optional(
      callerIdSchema("As at the creation, for calls that are created from now on; null: the provider's own.", true),
    ),
  });

  const ignored = v.optional(v.unknown());
  const common = {
    instanceId: v.pipe(
      v.string(),
      v.minLength(1, says("too_short", "must not be empty")),
      v.maxLength(INSTANCE_ID_LENGTH, says("too_long", `at most ${INSTANCE_ID_LENGTH} characters are allowed`)),
    ),
    target: v.object({
      phoneNumber: v.pipe(v.string(), v.regex(PHONE_NUMBER, says("phone_number_invalid", PHONE_RULE))),
    }),
    tts: ignored,
    audio: ignored,
    agent: ignored,
    recording: v.optional(
      describedAs(v.boolean(), {
        type: "boolean",
        description:
          "Records both sides of the call, for `GET /v1/calls/:callId/recording`. Ask the callee first. Default: false.",
      }),
    ),
    from: v.optional(
      callerIdSchema(
        "The number that the call comes from, or number, name and whether both are withheld, where the provider lets calls choose. " +
          "What it leaves out is the instance's.",
      ),
    ),
  };
  const tts = v.object({
    text: v.pipe(
      v.string(),
      characters(1, limits.textLength, "the text"),
      v.check(
        (text) => text === "" || text.length > 4 * limits.textLength || /[\p{L}\p{N}]/u.test(text),
        says("text_unspeakable", "the text has no letter and no digit, so there is nothing to speak"),
      ),
    ),
    voiceId: v.pipe(
      v.string(),
      v.regex(
        VOICE_ID,
        says("voice_invalid", "must be a language-region tag and a number, such as en-US-1 or pt-BR-1"),
      ),
    ),
  });
  const audio = v.object({ audioBase64: audioSchema(limits) });
  const instruction = v.pipe(v.string(), characters(1, limits.instructionLength, "the instruction"));
  const instructions = describedAs(
    v.pipe(
      v.any(),
      // Before the items are looked at: a body can hold millions, each with a fault of its own.
      v.rawCheck<unknown>(({ dataset: { value }, addIssue }) => {
        if (!Array.isArray(value)) return addIssue({ message: says("type_invalid", "must be an array") });
        if (value.length === 0) addIssue({ message: says("too_short", "give at least one instruction") });
        if (value.length > limits.instructions)
          addIssue({ message: says("too_long", `at most ${limits.instructions} instructions are allowed`) });
      }),
      v.array(instruction),
    ),
    {
      type: "array",
      minItems: 1,
      maxItems: limits.instructions,
      items: { type: "string", minLength: 1, maxLength: limits.instructionLength },
    },
  );
  const agent = v.object({ instructions });

  const createCall = {
    FIXED_TTS: v.object({ ...common, type: v.literal("FIXED_TTS"), tts }),
    FIXED_AUDIO: v.object({ ...common, type: v.literal("FIXED_AUDIO"), audio }),
    DYNAMIC_STREAM: v.object({ ...common, type: v.literal("DYNAMIC_STREAM") }),
    DYNAMIC_AGENT: v.object({ ...common, type: v.literal("DYNAMIC_AGENT"), agent }),
  };
  const createCallOfUnknownType = v.object({
    ...common,
    type: v.picklist(CALL_TYPES, says("value_invalid", `must be one of ${CALL_TYPES.join(", ")}`)),
  });
  return { createInstance, updateInstance, createCall, createCallOfUnknownType, strict } as unknown as InputSchemas;
}

/**
 * The checked body of `POST /v1/instances`.
 * @param found faults that only the server's state shows, told together with all others
 * @throws {Refusal} with a fault for each thing wrong
 */
export function parseCreateInstance(
  schemas: InputSchemas,
  body: unknown,
  found: readonly Fault[] = [],
): CheckedInstanceInput {
  return parse(schemas, schemas.createInstance, body, found);
}

/**
 * The checked body of `PATCH /v1/instances/:instanceId`.
 * @throws {Refusal} with a fault for each thing wrong
 */
export function parseUpdateInstance(schemas: InputSchemas, body: unknown): CheckedInstanceUpdate {
  return parse(schemas, schemas.updateInstance, body, []);
}

/** The provider that a body asks for, right or wrong; undefined where it names none that could be looked for. */
export function providerIn(body: unknown): string | undefined {
  const provider = isObject(body) ? body.provider : undefined;
  return typeof provider === "string" && provider.length <= PROVIDER_LENGTH ? provider : undefined;
}

/** The field that belongs to calls of one type only. */
const OWN_FIELD: Readonly<Record<CallType, "tts" | "audio" | "agent" | undefined>> = {
  FIXED_TTS: "tts",
  FIXED_AUDIO: "audio",
  DYNAMIC_STREAM: undefined,
  DYNAMIC_AGENT: "agent",
};

/**
 * The checked body of `POST /v1/calls`, without the fields that belong to another type.
 * @param found faults that only the server's state shows, told together with all others
 * @throws {Refusal} with a fault for each thing wrong
 */
export function parseCreateCall(schemas: InputSchemas, body: unknown, found: readonly Fault[] = []): CheckedCallInput {
  const type = isObject(body) ? body.type : undefined;
  const known = CALL_TYPES.find((name) => name === type);
  const schema = known ? schemas.createCall[known] : (schemas.createCallOfUnknownType as Schema<CheckedCallInput>);
  const input = parse(schemas, schema, body, found);
  for (const field of ["tts", "audio", "agent"] as const) if (field !== OWN_FIELD[input.type]) delete input[field];
  return input;
}

/** The voice that a body asks for, there or not; undefined where it needs none or names none that could be looked for. */
export function voiceIn(body: unknown): string | undefined {
  const tts = isObject(body) && body.type === "FIXED_TTS" ? body.tts : undefined;
  const voiceId = isObject(tts) ? tts.voiceId : undefined;
  return typeof voiceId === "string" && VOICE_ID.test(voiceId) ? voiceId : undefined;
}

function parse<T>({ strict }: InputSchemas, schema: Schema<T>, body: unknown, found: readonly Fault[]): T {
  if (!isObject(body))
    throw invalidInput([{ pointer: "", code: "invalid_json", detail: "the body must be a JSON object" }]);
  const result = v.safeParse(schema, body);
  const faults = [...(result.success ? [] : result.issues.map(faultOf)), ...found];
  if (strict) addUnknownFields(faults, schema, body, "");
  const [first, ...rest] = faults;
  if (first) throw invalidInput([first, ...rest]);
  return result.output as T;
}

/** A body can hold millions of unknown fields; nobody reads about all of them. */
const MOST_FAULTS = 100;

/** Adds the fields that the schema does not name; `v.strictObject` would tell the first one, and miss "constructor". */
function addUnknownFields(faults: Fault[], schema: unknown, value: unknown, pointer: string): void {
  const { wrapped = schema } = schema as { wrapped?: unknown };
  const { entries } = wrapped as { entries?: Record<string, unknown> };
  if (!entries || !isObject(value)) return;
  for (const key in value) {
    if (faults.length >= MOST_FAULTS) return;
    const inside = `${pointer}/${escapePointer(key)}`;
    if (Object.hasOwn(entries, key)) addUnknownFields(faults, entries[key], value[key], inside);
    else faults.push({ pointer: inside, code: "unknown_field", detail: "there is no such field" });
  }
}

const FAULT = /^([a-z_]+): ([\s\S]*)$/;

function faultOf(issue: v.BaseIssue<unknown>): Fault {
  const pointer = (issue.path ?? []).map((item) => `/${escapePointer(String(item.key))}`).join("");
  const own = FAULT.exec(issue.message);
  if (own && issue.received !== "undefined") return { pointer, code: own[1] as RefusalCode, detail: own[2] as string };
  if (issue.received === "undefined") return { pointer, code: "required", detail: "this field is required" };
  return { pointer, code: "type_invalid", detail: `must be ${expected(issue)}, not ${received(issue)}` };
}

const expected = (issue: v.BaseIssue<unknown>): string =>
  ({ string: "a string", Object: "an object", Array: "an array", boolean: "true or false" })[issue.expected ?? ""] ??
  String(issue.expected);

const received = (issue: v.BaseIssue<unknown>): string => {
  const text = issue.received;
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
};

const escapePointer = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");

function metadataSchema(limits: Limits): Schema<Metadata> {
  // v.record would silently drop keys such as "constructor"; what a user stores comes back whole.
  const schema = v.pipe(
    v.any(),
    v.rawCheck<unknown>(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const value: unknown = dataset.value;
      if (!isObject(value)) return addIssue({ message: says("type_invalid", "must be an object") });
      if (depthOver(value, limits.metadataDepth))
        return addIssue({ message: says("too_long", `is nested deeper than ${limits.metadataDepth} levels`) });
      const bytes = new TextEncoder().encode(JSON.stringify(value)).length;
      if (bytes > limits.metadataBytes)
        addIssue({
          message: says("too_long", `is ${bytes} bytes as JSON, at most ${limits.metadataBytes} are allowed`),
        });
    }),
  );
  return describedAs(schema, {
    type: "object",
    additionalProperties: true,
    description: `Arbitrary key-value data, at most ${limits.metadataBytes} bytes as JSON and ${limits.metadataDepth} levels deep.`,
  }) as Schema<Metadata>;
}

function depthOver(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((inner) => depthOver(inner, levels - 1));
}

function audioSchema(limits: Limits): Schema<string | DecodedAudio> {
  const schema = v.pipe(
    v.any(),
    v.rawCheck<unknown>(({ dataset: { value }, addIssue }) => {
      if (typeof value !== "string" && !(value instanceof DecodedAudio))
        return addIssue({ message: says("type_invalid", "must be a string") });
      const fault = audioFault(value, limits.audioBytes);
      if (fault) addIssue({ message: says("audio_unsupported", fault) });
    }),
  );
  return describedAs(schema, {
    type: "string",
    contentEncoding: "base64",
    description: `An MP3 or WAV file, at most ${limits.audioBytes} bytes and ${limits.audioMs / 60_000} minutes.`,
  }) as Schema<string | DecodedAudio>;
}
