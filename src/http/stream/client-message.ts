import * as v from "valibot";
import type { StreamError } from "../response-types.ts";

/** Maximum length of a text message, characters. */
const MAX_CHARACTERS = 65_536;
const NAME = "name must be a string of 1 to 256 characters";
const DIGITS = "digits must be a string of 1 to 64 of the keys 0-9 * # A-D";

const MESSAGES = {
  mark: v.object(
    { type: v.literal("mark"), name: v.pipe(v.string(NAME), v.minLength(1, NAME), v.maxLength(256, NAME)) },
    NAME,
  ),
  clear: v.object({ type: v.literal("clear") }),
  progress: v.object({ type: v.literal("progress") }),
  hangup: v.object({ type: v.literal("hangup") }),
  dtmf: v.object(
    { type: v.literal("dtmf"), digits: v.pipe(v.string(DIGITS), v.regex(/^[0-9*#A-D]{1,64}$/, DIGITS)) },
    DIGITS,
  ),
} as const;
type MessageType = keyof typeof MESSAGES;

/** A text message of a client. */
export type ClientMessage = { [Type in MessageType]: v.InferOutput<(typeof MESSAGES)[Type]> }[MessageType];

/** The reply to an invalid text message; `detail` names the wrong value and the fix. */
interface StreamFault extends StreamError {
  readonly code: "message_too_large" | "invalid_json" | "unknown_message" | "invalid_message";
}

/** Reads a text message of a client. Never throws. */
export function readClientMessage(text: string): ClientMessage | StreamFault {
  if (text.length > MAX_CHARACTERS)
    return fault("message_too_large", `a text message has at most ${MAX_CHARACTERS} characters; send audio as binary`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return fault("invalid_json", "a text message must be a JSON object; send audio as binary");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return fault("invalid_json", "a text message must be a JSON object");
  const { type } = value as { type?: unknown };
  if (typeof type !== "string" || !isMessageType(type))
    return fault("unknown_message", `${unknownType(type)}; ${KNOWN_TYPES}`);
  const result = v.safeParse(MESSAGES[type], value);
  return result.success ? result.output : fault("invalid_message", `${type}: ${result.issues[0].message}`);
}

const KNOWN_TYPES = `known types: ${Object.keys(MESSAGES).join(", ")}`;

const isMessageType = (type: string): type is MessageType => Object.hasOwn(MESSAGES, type);

const unknownType = (type: unknown): string =>
  typeof type === "string" ? `unknown message type ${JSON.stringify(type.slice(0, 40))}` : "the message has no type";

const fault = (code: StreamFault["code"], detail: string): StreamFault => ({ type: "error", code, detail });
