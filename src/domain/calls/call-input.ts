import * as v from "valibot";
import { hasWords } from "../../base/has-words.ts";
import { type AgentInput, agentSchema, LANGUAGE, onMachineSchema } from "../agents/agent-input.ts";
import type { OnMachine } from "../answering/answering-machine.ts";
import { type OnScreening, onScreeningSchema } from "../answering/screening-policy.ts";
import { characters, describedAs, isObject, issueText, type Schema, storableText } from "../input/input-checks.ts";
import { type ParseOptions, parseBody } from "../input/input-parser.ts";
import { metadataSchema } from "../input/metadata-input.ts";
import type { Metadata } from "../instances/instance.ts";
import type { Limits } from "../limits.ts";
import type { CallerId } from "../numbers/caller-id.ts";
import { type CallerIdInput, callerIdSchema } from "../numbers/caller-id-input.ts";
import { PHONE_NUMBER, PHONE_RULE } from "../numbers/phone-number.ts";
import { invalidInput } from "../refusal.ts";
import { VOICE_ID } from "../voice-id.ts";
import { type AudioPlace, audioFault, DecodedAudio } from "./audio-input.ts";
import { CALL_TYPES, type CallType } from "./call.ts";
import { extensionSchema } from "./extension.ts";
import type { StartOn } from "./message-start.ts";
import { messageStartEntries } from "./message-start-input.ts";
import { type SipInput, sipSchema, sipUriSchema } from "./sip-input.ts";

/** The body of `POST /v1/calls`: the fields of every call, and those of its type. */
export type CreateCallInput = CommonCallInput & CallMessageInput;

/** Audio of a call, by its type. */
export type CallMessageInput =
  | ({ type: "FIXED_TTS"; tts: { text: string; voiceId: string } } & MachineInput & StartInput)
  | ({ type: "FIXED_AUDIO"; audio: { audioBase64: string } } & MachineInput & StartInput)
  | { type: "DYNAMIC_STREAM" }
  | { type: "DYNAMIC_AGENT"; agent: AgentInput };

/** The field of a call that plays a message. */
interface MachineInput {
  /** Behaviour once a machine has answered. Default: `continue`, as with a person. */
  onMachine?: OnMachine | undefined;
  /**
   * Policy if a call-screening assistant answers, which is recognised by its words. Anything but `continue` transcribes
   * the call. Default: `continue`, as with a person.
   */
  onScreening?: OnScreening | undefined;
}

/** The fields of a call with a message that say when it begins. */
interface StartInput {
  /** Default: `answer`. */
  startOn?: StartOn | undefined;
  /** A pause before the message, ms. Default: 0. */
  startDelayMs?: number | undefined;
}

/** The fields that calls of all types have. */
export interface CommonCallInput {
  instanceId: string;
  target: {
    phoneNumber: string;
    /** The SIP URI that is called, on trunks that allow its host; the number stays that of the callee. */
    sipUri?: string | undefined;
    /** Keys that are sent after the answer, before anything is heard: 0-9, *, #, and the pauses `w` and `,`. */
    extension?: string | undefined;
  };
  /** Records both sides of the call; ask the callee first. Default: false. */
  recording?: boolean | undefined;
  /** The caller, if the instance's provider lets calls choose; omitted fields are the instance's. */
  from?: CallerIdInput | undefined;
  /** Choices of a call over SIP for its INVITE. */
  sip?: SipInput | undefined;
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
export type CheckedCallInput = CheckedCommonInput &
  (
    | Exclude<CallMessageInput, { type: "FIXED_AUDIO" }>
    | ({ type: "FIXED_AUDIO"; audio: AudioPlace } & MachineInput & StartInput)
  );

/** The schemas of the body that creates a call. */
export interface CallSchemas {
  readonly createCall: { readonly [T in CallType]: Schema<Extract<CheckedCallInput, { type: T }>> };
  /** For a body without a known type: finds the faults that can be found without it. */
  readonly createCallOfUnknownType: Schema<{ type: CallType }>;
}

/** An element that only SSML has (https://www.w3.org/TR/speech-synthesis11). */
const SSML = /<\/?(?:speak|break|prosody|say-as|emphasis|phoneme|voice)\b/i;
/** Ids have 31 characters; any other text of up to this length is refused as the id of an unknown instance. */
const INSTANCE_ID_LENGTH = 100;
/** A field of another type. */
const IGNORED = v.optional(v.unknown());

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
    tts: IGNORED,
    audio: IGNORED,
    agent: IGNORED,
    onMachine: IGNORED,
    onScreening: IGNORED,
    startOn: IGNORED,
    startDelayMs: IGNORED,
    recording: v.optional(
      describedAs(v.boolean(), {
        type: "boolean",
        description:
          "Records both sides of the call, for `GET /v1/calls/:callId/recording`. Ask the callee first. Default: false.",
      }),
    ),
    from: v.optional(
      callerIdSchema(
        "The number that the call comes from, or number, name and whether both are withheld, if the provider lets calls choose. " +
          "What it leaves out is the instance's.",
      ),
    ),
    sip: v.optional(sipSchema()),
    reference: v.optional(referenceSchema(limits)),
    metadata: v.optional(metadataSchema(limits)),
  };
  const voiceId = v.pipe(
    v.string(),
    v.regex(
      VOICE_ID,
      issueText("voice_invalid", "must be a language-region tag and a number, such as en-US-1 or pt-BR-1"),
    ),
  );
  const tts = v.object({
    text: v.pipe(
      v.string(),
      characters(1, limits.textLength, "the text"),
      v.check(
        (text) => text === "" || text.length > 4 * limits.textLength || hasWords(text),
        issueText("text_unspeakable", "the text has no letter and no digit, so there is nothing to speak"),
      ),
      v.check(
        (text) => text.length > 4 * limits.textLength || !SSML.test(text),
        issueText("value_invalid", "SSML is not supported, its tags would be read aloud; send the words alone"),
      ),
    ),
    voiceId,
  });
  const audio = v.object({ audioBase64: audioSchema(limits) });
  const agent = agentSchema(limits, voiceId);

  const onMachine = v.optional(onMachineSchema());
  const start = messageStartEntries();
  const screening = (needsVoice: boolean) => v.optional(onScreeningSchema(voiceId, needsVoice));
  const message = { onMachine, ...start };

  const createCall = {
    FIXED_TTS: v.object({ ...common, type: v.literal("FIXED_TTS"), tts, ...message, onScreening: screening(false) }),
    FIXED_AUDIO: v.object({
      ...common,
      type: v.literal("FIXED_AUDIO"),
      audio,
      ...message,
      onScreening: screening(true),
    }),
    DYNAMIC_STREAM: v.object({ ...common, type: v.literal("DYNAMIC_STREAM") }),
    DYNAMIC_AGENT: v.object({ ...common, type: v.literal("DYNAMIC_AGENT"), agent }),
  };
  const createCallOfUnknownType = v.object({
    ...common,
    type: v.picklist(CALL_TYPES, issueText("value_invalid", `must be one of ${CALL_TYPES.join(", ")}`)),
  });
  return { createCall, createCallOfUnknownType };
}

/**
 * The checked body of `POST /v1/calls`, without the fields of other types.
 * @throws {Refusal} with a fault for each thing wrong
 */
export function parseCall(schemas: CallSchemas, body: unknown, options: ParseOptions): CheckedCallInput {
  const given = isObject(body) ? body.type : undefined;
  const known = CALL_TYPES.find((name) => name === given);
  const type = known ?? parseBody(schemas.createCallOfUnknownType, body, options).type;
  const schema: Schema<CheckedCallInput> = schemas.createCall[type];
  const input = parseBody(schema, body, options);
  const { entries } = schema as { entries?: Readonly<Record<string, unknown>> };
  for (const name in entries) if (entries[name] === IGNORED) Reflect.deleteProperty(input, name);
  checkExtension(input);
  return input;
}

/** @throws {Refusal} a switchboard would count as the machine, or as the assistant */
function checkExtension(input: CheckedCallInput): void {
  if (input.target.extension === undefined || input.type === "DYNAMIC_STREAM") return;
  const policies =
    input.type === "DYNAMIC_AGENT"
      ? { "/agent/onMachine": input.agent.onMachine }
      : { "/onMachine": input.onMachine, "/onScreening": input.onScreening };
  const detail =
    'must be "continue" with target.extension: the switchboard that answers sounds like a machine, and no person has answered yet';
  const [fault, ...more] = Object.entries(policies)
    .filter(([, policy]) => policy !== undefined && policy !== "continue")
    .map(([pointer]) => ({ pointer, code: "value_invalid" as const, detail }));
  if (fault) throw invalidInput([fault, ...more]);
}

/** The voice that a body names, whether or not it exists, and where; undefined if it names none that could exist. */
export function voiceIn(body: unknown): { readonly voiceId: string; readonly pointer: string } | undefined {
  if (!isObject(body)) return undefined;
  const field = body.type === "FIXED_TTS" ? "tts" : body.type === "DYNAMIC_AGENT" ? "agent" : undefined;
  const speaker = field && body[field];
  const voiceId = isObject(speaker) ? speaker.voiceId : undefined;
  return typeof voiceId === "string" && VOICE_ID.test(voiceId) ? { voiceId, pointer: `/${field}/voiceId` } : undefined;
}

/** The language that a body's agent is to speak with any voice; undefined if it names a voice, or no language that exists. */
export function agentLanguageIn(body: unknown): string | undefined {
  if (!isObject(body) || body.type !== "DYNAMIC_AGENT" || !isObject(body.agent)) return undefined;
  const { language, voiceId } = body.agent;
  return voiceId === undefined && typeof language === "string" && LANGUAGE.test(language) ? language : undefined;
}

/** The tools that a body's agent may use, as far as they are names. */
export function agentToolsIn(body: unknown): readonly string[] {
  if (!isObject(body) || body.type !== "DYNAMIC_AGENT" || !isObject(body.agent)) return [];
  const { tools } = body.agent;
  return Array.isArray(tools) ? tools.filter((name) => typeof name === "string") : [];
}

/** Calls are found by it, so databases must be able to store it as it is. */
function referenceSchema(limits: Limits): Schema<string> {
  const schema = v.pipe(
    v.string(),
    characters(1, limits.referenceLength, "the reference"),
    storableText("the reference"),
  );
  return describedAs(schema, {
    type: "string",
    minLength: 1,
    maxLength: limits.referenceLength,
    description: "Your own name for the call, such as an order number. `GET /v1/calls?reference=` finds calls by it.",
  });
}

function audioSchema(limits: Limits): Schema<string | DecodedAudio> {
  const schema = v.pipe(
    v.any(),
    v.rawCheck<unknown>(({ dataset: { value }, addIssue }) => {
      if (typeof value !== "string" && !(value instanceof DecodedAudio))
        return addIssue({ message: issueText("type_invalid", "must be a string") });
      const fault = audioFault(value, limits.audioBytes);
      if (fault) addIssue({ message: issueText("audio_unsupported", fault) });
    }),
  );
  return describedAs(schema, {
    type: "string",
    contentEncoding: "base64",
    description: `An MP3 or WAV file, at most ${limits.audioBytes} bytes and ${limits.audioMs / 60_000} minutes.`,
  }) as Schema<string | DecodedAudio>;
}
