import * as v from "valibot";
import { hasWords } from "../../base/has-words.ts";
import { type AgentInput, agentSchema, LANGUAGE, onMachineSchema } from "../agents/agent-input.ts";
import type { OnMachine } from "../answering/answering-machine.ts";
import { type OnScreening, onScreeningSchema } from "../answering/screening-policy.ts";
import { characters, isObject, issueText, type Schema } from "../input/input-checks.ts";
import type { Limits } from "../limits.ts";
import { VOICE_ID } from "../voice-id.ts";
import type { AudioPlace, StoredAudioPlace } from "./audio-input.ts";
import { callAudioSchema } from "./audio-schemas.ts";
import type { CallType, Message } from "./call.ts";
import type { StartOn } from "./message-start.ts";
import { messageStartEntries } from "./message-start-input.ts";

/** The fields of a call that depend on its type: the message for the callee. */
export type CallMessageInput =
  | ({ type: "FIXED_TTS"; tts: { text: string; voiceId: string } } & MessageOptions)
  | ({ type: "FIXED_AUDIO"; audio: CallAudioInput } & MessageOptions)
  | { type: "DYNAMIC_STREAM" }
  | { type: "DYNAMIC_AGENT"; agent: AgentInput };

/** The audio file of a call: the file itself, or one that was stored before. */
export type CallAudioInput =
  | { audioBase64: string; audioId?: undefined }
  | { /** Id of a file that `POST /v1/audio` has stored. */ audioId: string; audioBase64?: undefined };

/** The fields of a call that decide what a machine hears. */
interface MachineInput {
  /** Behaviour once a machine has answered. Default: `continue`, as with a person. */
  onMachine?: OnMachine | undefined;
  /**
   * Policy if a call-screening assistant answers, which is recognised by its words. Anything but `continue` transcribes
   * the call. Default: `continue`, as with a person.
   */
  onScreening?: OnScreening | undefined;
}

/** The fields that control when the message of a call starts. */
interface StartInput {
  /** Default: `answer`. */
  startOn?: StartOn | undefined;
  /** A pause before the message, ms. Default: 0. */
  startDelayMs?: number | undefined;
}

interface MessageOptions extends MachineInput, StartInput {}

/** {@link CallMessageInput} in a checked body. */
export type CheckedMessageInput =
  | Exclude<CallMessageInput, { type: "FIXED_AUDIO" }>
  | ({ type: "FIXED_AUDIO"; audio: AudioPlace | StoredAudioPlace } & MessageOptions);

/** The fields of all types. */
type MessageField = CallMessageInput extends infer Input
  ? Input extends unknown
    ? Exclude<keyof Input, "type">
    : never
  : never;

/** The schemas of the fields that each type has. */
export type MessageEntries = {
  readonly [Type in CallType]: Entries<Extract<CheckedMessageInput, { type: Type }>>;
};

type Entries<Input> = { readonly [Field in keyof Input]-?: Schema<Input[Field]> };

/** An element that only SSML has (https://www.w3.org/TR/speech-synthesis11). */
const SSML = /<\/?(?:speak|break|prosody|say-as|emphasis|phoneme|voice)\b/i;
/** The schema of a field that belongs to another call type. */
export const IGNORED_FIELD: Schema<unknown> = v.optional(v.unknown());
/** The fields of all types, none of them checked. */
export const IGNORED_FIELDS: Readonly<Record<MessageField, Schema<unknown>>> = {
  tts: IGNORED_FIELD,
  audio: IGNORED_FIELD,
  agent: IGNORED_FIELD,
  onMachine: IGNORED_FIELD,
  onScreening: IGNORED_FIELD,
  startOn: IGNORED_FIELD,
  startDelayMs: IGNORED_FIELD,
};

/** The schemas for these limits. */
export function messageEntries(limits: Limits): MessageEntries {
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
        issueText("value_invalid", "SSML is not supported, and its tags would be read aloud; send only the words"),
      ),
    ),
    voiceId,
  });
  const audio = callAudioSchema(limits);
  const agent = agentSchema(limits, voiceId);

  const onMachine = v.optional(onMachineSchema());
  const start = messageStartEntries();
  const screening = (needsVoice: boolean) => v.optional(onScreeningSchema(voiceId, needsVoice));
  const message = { onMachine, ...start };

  return {
    FIXED_TTS: { type: v.literal("FIXED_TTS"), tts, ...message, onScreening: screening(false) },
    FIXED_AUDIO: { type: v.literal("FIXED_AUDIO"), audio, ...message, onScreening: screening(true) },
    DYNAMIC_STREAM: { type: v.literal("DYNAMIC_STREAM") },
    DYNAMIC_AGENT: { type: v.literal("DYNAMIC_AGENT"), agent },
  };
}

/** The message to store, except for a file, which also needs the properties of its audio. */
export function storedMessage(
  input: Exclude<CheckedMessageInput, { type: "FIXED_AUDIO" }>,
): Exclude<Message, { type: "FIXED_AUDIO" }> {
  switch (input.type) {
    case "FIXED_TTS":
      return { type: input.type, ...input.tts, ...storedOptions(input) };
    case "DYNAMIC_STREAM":
      return { type: input.type };
    case "DYNAMIC_AGENT":
      return { type: input.type, ...input.agent };
  }
}

/** The options of a fixed message that the input names. */
export function storedOptions({ onMachine, onScreening, startOn, startDelayMs }: MessageOptions): MessageOptions {
  return {
    ...(onMachine !== undefined && { onMachine }),
    ...(onScreening !== undefined && { onScreening }),
    ...(startOn !== undefined && { startOn }),
    ...(startDelayMs !== undefined && { startDelayMs }),
  };
}

/** The well-formed voice id in a body, with its JSON pointer; undefined if there is none. */
export function voiceIn(body: unknown): { readonly voiceId: string; readonly pointer: string } | undefined {
  if (!isObject(body)) return undefined;
  const field = body.type === "FIXED_TTS" ? "tts" : body.type === "DYNAMIC_AGENT" ? "agent" : undefined;
  const speaker = field && body[field];
  const voiceId = isObject(speaker) ? speaker.voiceId : undefined;
  return typeof voiceId === "string" && VOICE_ID.test(voiceId) ? { voiceId, pointer: `/${field}/voiceId` } : undefined;
}

/** The language of a body's agent that names no voice; undefined if it names a voice, or no well-formed language. */
export function agentLanguageIn(body: unknown): string | undefined {
  if (!isObject(body) || body.type !== "DYNAMIC_AGENT" || !isObject(body.agent)) return undefined;
  const { language, voiceId } = body.agent;
  return voiceId === undefined && typeof language === "string" && LANGUAGE.test(language) ? language : undefined;
}

/** The valid tool names of a body's agent. */
export function agentToolsIn(body: unknown): readonly string[] {
  if (!isObject(body) || body.type !== "DYNAMIC_AGENT" || !isObject(body.agent)) return [];
  const { tools } = body.agent;
  return Array.isArray(tools) ? tools.filter((name) => typeof name === "string") : [];
}
