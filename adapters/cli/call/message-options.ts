import type { CallMessageInput } from "../../../src/domain/call-input.ts";
import type { OptionSpec, ParsedLine } from "../command.ts";
import { UsageError } from "../usage-error.ts";
import { readAudioFile } from "./audio-file.ts";

export const DEFAULT_VOICE = "en-US-1";

/** What the callee is to hear. */
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
 * The message that these options ask for.
 * @param standard the text to speak by default
 * @throws {UsageError} they ask for nothing, for two things, or for a file that cannot be played
 */
export async function messageOf({ values }: ParsedLine, standard?: string): Promise<CallMessageInput> {
  const file = values.get("audio") as string | undefined;
  if (file !== undefined) {
    const spoken = ["text", "voice"].find((name) => values.has(name));
    if (spoken) throw new UsageError(`--audio plays a file instead of speaking: leave out --${spoken}`);
    const bytes = await readAudioFile(file);
    return { type: "FIXED_AUDIO", audio: { audioBase64: Buffer.from(bytes).toString("base64") } };
  }
  const text = values.get("text") ?? standard;
  if (text === undefined)
    throw new UsageError('no message: give --text "Your parcel arrives tomorrow." or --audio FILE');
  return { type: "FIXED_TTS", tts: { text: String(text), voiceId: String(values.get("voice") ?? DEFAULT_VOICE) } };
}
