import * as v from "valibot";
import type { ReleaseCause } from "../../../../src/ports/telephony.ts";

/** The caller as the phone shows it. Null: unknown, or withheld. */
export interface PhoneCaller {
  readonly phone_number: string | null;
  readonly display_name: string | null;
  readonly withheld: boolean;
}

/** Reason why a call has ended for a phone. `answered_elsewhere`: another phone with the same number has answered it. */
export type PhoneEnd = ReleaseCause | "answered_elsewhere";

/** A message to a phone. Binary messages carry the caller's audio. */
export type PhoneMessage =
  /** The phone can be called. */
  | { readonly type: "ready"; readonly number: string }
  | {
      readonly type: "ringing";
      readonly call_id: string;
      readonly from: PhoneCaller;
      /** The instance that calls. */
      readonly instance: { readonly id: string; readonly name: string };
      /** Sample rate in both directions, Hz. */
      readonly sample_rate: number;
    }
  /** This phone has the call: audio follows. */
  | { readonly type: "answered"; readonly call_id: string }
  | { readonly type: "ended"; readonly call_id: string; readonly cause: PhoneEnd }
  | PhoneFault;

/** The response to a message that could not be processed; `detail` names the wrong value and the fix. */
export interface PhoneFault {
  readonly type: "error";
  readonly code: "invalid_json" | "unknown_message" | "invalid_message" | "invalid_audio" | "no_such_call" | "not_now";
  readonly detail: string;
}

/** Maximum length of a text message from a phone, characters. */
export const MAX_CHARACTERS = 1_024;
/** Maximum length of the audio in one message from a phone, ms. */
export const MAX_AUDIO_MS = 100;

const CALL = "call_id must be the call_id of a ringing message";
const DIGIT = "digit must be one of the keys 0-9 * # A-D";
const MUTED = "muted must be true or false";

const call_id = v.pipe(v.string(CALL), v.minLength(1, CALL), v.maxLength(100, CALL));
const MESSAGES = {
  answer: v.object({ type: v.literal("answer"), call_id }, CALL),
  decline: v.object({ type: v.literal("decline"), call_id }, CALL),
  hang_up: v.object({ type: v.literal("hang_up"), call_id }, CALL),
  digit: v.object(
    { type: v.literal("digit"), call_id, digit: v.pipe(v.string(DIGIT), v.regex(/^[0-9*#A-D]$/, DIGIT)) },
    `${CALL}, and ${DIGIT}`,
  ),
  muted: v.object({ type: v.literal("muted"), call_id, muted: v.boolean(MUTED) }, `${CALL}, and ${MUTED}`),
} as const;
type CommandType = keyof typeof MESSAGES;

/** A message from a phone. Binary messages carry its microphone audio. */
export type PhoneCommand = { [Type in CommandType]: v.InferOutput<(typeof MESSAGES)[Type]> }[CommandType];

/** Reads a text message from a phone. Never throws. */
export function readPhoneCommand(text: string): PhoneCommand | PhoneFault {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return phoneFault("invalid_json", "a text message must be a JSON object; send audio as binary");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return phoneFault("invalid_json", "a text message must be a JSON object");
  const { type } = value as { type?: unknown };
  if (typeof type !== "string" || !isCommandType(type))
    return phoneFault("unknown_message", `type is ${quotedType(type)}: it must be one of ${COMMAND_TYPES}`);
  const result = v.safeParse(MESSAGES[type], value);
  return result.success ? result.output : phoneFault("invalid_message", `${type}: ${result.issues[0].message}`);
}

/** A fault for {@link PhoneMessage}. */
export function phoneFault(code: PhoneFault["code"], detail: string): PhoneFault {
  return { type: "error", code, detail };
}

const COMMAND_TYPES = Object.keys(MESSAGES).join(", ");

const isCommandType = (type: string): type is CommandType => Object.hasOwn(MESSAGES, type);

const quotedType = (type: unknown): string =>
  typeof type === "string" ? JSON.stringify(type.slice(0, 40)) : "missing";
