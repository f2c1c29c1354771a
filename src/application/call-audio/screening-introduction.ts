import type { Playout } from "../../audio/playout/playout.ts";
import { resampleStream } from "../../audio/samples/resample-stream.ts";
import { InternalError } from "../../base/error.ts";
import type { ScreeningIntroduction } from "../../domain/answering/screening-policy.ts";
import type { Call } from "../../domain/calls/call.ts";
import type { Context } from "../context.ts";
import { MessageDemand } from "./call-types/prepared-message.ts";

type IntroductionContext = Pick<Context, "log" | "speechScheduler">;

/**
 * Introduces the caller to a call-screening assistant. Resolves when all of it is queued; a failure is only logged.
 * @param onSpoken called, on the leg's clock, once it has been played
 */
export async function introduce(
  context: IntroductionContext,
  call: Call,
  { say, voiceId }: ScreeningIntroduction,
  playout: Playout,
  onSpoken: () => void,
  signal: AbortSignal,
): Promise<void> {
  const voice = voiceId ?? (call.message.type === "FIXED_TTS" ? call.message.voiceId : undefined);
  const demand = new MessageDemand(call);
  demand.playout = playout;
  try {
    if (voice === undefined) throw new InternalError("the introduction has no voice");
    const pieces = context.speechScheduler.speak(say, voice, demand, signal);
    for await (const samples of resampleStream(pieces, playout.sampleRate)) {
      if (signal.aborted) return;
      playout.enqueue(samples);
    }
  } catch (error) {
    if (signal.aborted) return;
    context.log.warn({ call_id: call.id, err: error }, "the introduction to a call-screening assistant was not spoken");
  }
  if (!signal.aborted) playout.mark("", onSpoken);
}
