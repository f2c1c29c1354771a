import { resampleStream } from "../../audio/resample-stream.ts";
import type { Call } from "../../domain/call.ts";
import type { Context } from "../context.ts";
import { ProgramFailed } from "./program.ts";

/** FIXED_TTS: the text, spoken, at the leg's rate. */
export async function* speak(
  { speech }: Context,
  call: Call,
  sampleRate: number,
  signal: AbortSignal,
): AsyncGenerator<Int16Array> {
  if (call.message.type !== "FIXED_TTS") return;
  const { text, voiceId } = call.message;
  try {
    yield* resampleStream(speech.speak(text, voiceId, signal), sampleRate);
  } catch (cause) {
    throw new ProgramFailed("speech_failed", cause instanceof Error ? cause.message : String(cause), { cause });
  }
}
