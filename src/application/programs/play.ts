import type { Call } from "../../domain/call.ts";
import type { Context } from "../context.ts";
import { ProgramFailed } from "./program.ts";

/** FIXED_AUDIO: the uploaded file, decoded at the leg's rate. */
export async function* play(
  { storage, decoder }: Context,
  call: Call,
  sampleRate: number,
  signal: AbortSignal,
): AsyncGenerator<Int16Array> {
  const file = await storage.calls.audio(call.id);
  if (!file) throw new ProgramFailed("internal_error", "the audio file of this call is not in the storage");
  try {
    yield await decoder.decode(file, sampleRate, signal);
  } catch (cause) {
    // It was decoded once at creation, so this is ours to explain, not the caller's.
    throw new ProgramFailed("internal_error", `the audio file could not be decoded: ${(cause as Error).message}`, {
      cause,
    });
  }
}
