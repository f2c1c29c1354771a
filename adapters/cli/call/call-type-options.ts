import { readFile, stat } from "node:fs/promises";
import { formatRefusal } from "../../../src/audio/conversion.ts";
import { sniff } from "../../../src/audio/sniffing/sniff.ts";
import type { CallMessageInput } from "../../../src/domain/calls/call-type-input.ts";
import { DEFAULT_LIMITS } from "../../../src/domain/limits.ts";
import type { OptionSpec, ParsedLine } from "../command.ts";
import { UsageError } from "../usage-error.ts";

const DEFAULT_VOICE = "en-US-1";

/** Options that name the message. */
export const MESSAGE_OPTIONS: readonly OptionSpec[] = [
  { name: "text", placeholder: "TEXT", help: "Text to speak." },
  { name: "voice", placeholder: "VOICE", help: `Voice to use. Default: ${DEFAULT_VOICE}.`, completion: "voice" },
  {
    name: "audio",
    placeholder: "FILE",
    help: "Plays this MP3 or WAV file instead of speaking.",
    completion: "file",
  },
];

/**
 * The message described by these options.
 * @param defaultText text to speak if the options name none
 * @throws {UsageError} no message, two messages, or a file that cannot be played
 */
export async function messageOf({ values }: ParsedLine, defaultText?: string): Promise<CallMessageInput> {
  const file = values.get("audio") as string | undefined;
  if (file !== undefined) {
    const speechOption = ["text", "voice"].find((name) => values.has(name));
    if (speechOption) throw new UsageError(`--audio plays a file instead of speaking: leave out --${speechOption}`);
    const bytes = await readAudioFile(file);
    return { type: "FIXED_AUDIO", audio: { audioBase64: Buffer.from(bytes).toString("base64") } };
  }
  const text = values.get("text") ?? defaultText;
  if (text === undefined)
    throw new UsageError('no message: give --text "Your parcel arrives tomorrow." or --audio FILE');
  return { type: "FIXED_TTS", tts: { text: String(text), voiceId: String(values.get("voice") ?? DEFAULT_VOICE) } };
}

const REASONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ENOENT: "there is no such file",
    EACCES: "this user may not read it",
    EISDIR: "it is a folder",
  }),
);

/**
 * Reads an MP3 or WAV file on this machine and checks it before it is sent.
 * @throws {UsageError} the file cannot be read, is too large, or is not playable audio
 */
async function readAudioFile(path: string): Promise<Uint8Array> {
  const refuse = (reason: string, cause?: unknown): never => {
    throw new UsageError(`--audio is "${path}": ${reason}`, { cause });
  };
  const unreadable = (cause: NodeJS.ErrnoException): never =>
    refuse(REASONS.get(cause.code ?? "") ?? `it cannot be read (${cause.code ?? cause.message})`, cause);
  const { size } = await stat(path).catch(unreadable);
  // Files that are too large are rejected without being read.
  if (size > DEFAULT_LIMITS.audioBytes)
    refuse(`it has ${size} bytes, at most ${DEFAULT_LIMITS.audioBytes} are allowed`);
  const bytes = await readFile(path).catch(unreadable);
  const format = sniff(bytes);
  if (typeof format === "object") refuse(`it is ${formatRefusal(format.unsupported)}`);
  return bytes;
}
