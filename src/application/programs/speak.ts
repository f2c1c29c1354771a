import { Resampler } from "../../audio/resample.ts";
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
  let resampler: Resampler | undefined;
  let rate = 0;
  try {
    for await (const chunk of speech.speak(text, voiceId, signal)) {
      if (!resampler || rate !== chunk.sampleRate) {
        if (resampler) yield resampler.flush();
        resampler = new Resampler(chunk.sampleRate, sampleRate);
        rate = chunk.sampleRate;
      }
      yield resampler.push(chunk.samples);
    }
    if (resampler) yield resampler.flush();
  } catch (cause) {
    throw new ProgramFailed("speech_failed", cause instanceof Error ? cause.message : String(cause), { cause });
  }
}
