import { screeningIn } from "../../../domain/answering/screening-policy.ts";
import type { Fault } from "../../../domain/refusal.ts";
import { VOICE_ID } from "../../../domain/voice-id.ts";
import { VoiceUnavailable } from "../../../ports/speech.ts";
import type { Context } from "../../context.ts";

const NO_TRANSCRIPTION =
  "call-screening assistants are recognised by their words, and no transcription engine is configured on this server; leave it out, or configure one";

/** Faults of a well-formed policy on call screening: there is no transcription engine, or the voice does not exist. */
export async function screeningFaults(
  { transcription, agent, speech }: Pick<Context, "agent" | "speech" | "transcription">,
  body: unknown,
): Promise<Fault[]> {
  const policy = screeningIn(body);
  if (policy === undefined) return [];
  const { pointer, voiceId } = policy;
  // An agent in audio brings the words of the callee.
  const hasWords = transcription !== undefined || (pointer.startsWith("/agent") && agent?.kind === "audio");
  if (!hasWords) return [{ pointer, code: "value_invalid", detail: NO_TRANSCRIPTION }];
  if (voiceId === undefined || !VOICE_ID.test(voiceId)) return [];
  try {
    await speech.voice(voiceId);
    return [];
  } catch (error) {
    if (!(error instanceof VoiceUnavailable)) throw error;
    return [{ pointer: `${pointer}/voiceId`, code: "voice_unavailable", detail: error.message }];
  }
}
