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

/** Option that names a stored audio file. */
export const AUDIO_ID_OPTION: OptionSpec = {
  name: "audio-id",
  placeholder: "ID",
  help: "Plays this stored file (ringport audio add) instead of speaking.",
  completion: "audio",
};

/**
 * The message described by these options.
 * @param defaultText text to speak if the options name none
 * @throws {UsageError} no message, two messages, or a file that cannot be played
 */
export async function messageOf({ values }: ParsedLine, defaultText?: string): Promise<CallMessageInput> {
  const file = values.get("audio") as string | undefined;
  const audioId = values.get("audio-id") as string | undefined;
  const audioOption = audioId !== undefined ? "audio-id" : "audio";
  if (file !== undefined || audioId !== undefined) {
    const otherOption = ["text", "voice", "audio"].find((name) => name !== audioOption && values.has(name));
    if (otherOption)
      throw new UsageError(`--${audioOption} plays a file instead of speaking: leave out --${otherOption}`);
  }
  if (audioId !== undefined) return { type: "FIXED_AUDIO", audio: { audioId } };
  if (file !== undefined) {
    const bytes = await readAudioFile("--audio", file);
    return { type: "FIXED_AUDIO", audio: { audioBase64: Buffer.from(bytes).toString("base64") } };
  }
  const text = values.get("text") ?? defaultText;
  if (text === undefined)
    throw new UsageError('no message: give --text "Your parcel arrives tomorrow.", --audio FILE or --audio-id ID');
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
 * @param option the option or operand with its path
 * @throws {UsageError} the file cannot be read, is too large, or is not playable audio
 */
export async function readAudioFile(option: string, path: string): Promise<Uint8Array<ArrayBuffer>> {
  const refuse = (reason: string, cause?: unknown): never => {
    throw new UsageError(`${option} is "${path}": ${reason}`, { cause });
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
