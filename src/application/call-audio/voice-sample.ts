import { concatPcm, pcmToBytes } from "../../audio/samples/pcm.ts";
import { resampleStream } from "../../audio/samples/resample-stream.ts";
import { wavHeader } from "../../audio/wav/wav-header.ts";
import { Refusal } from "../../domain/refusal.ts";
import { VoiceUnavailable } from "../../ports/speech.ts";
import type { Context } from "../context.ts";
import { sampleSentence } from "./sample-sentence.ts";

/** The rate of wideband telephony, Hz. */
const SAMPLE_RATE = 16_000;
/** Time limit of a sample, ms. */
const SAMPLE_TIMEOUT_MS = 15_000;

/**
 * A short sentence in the voice's own language, as a WAV file: 16-bit PCM, mono, 16 kHz.
 * @param options the user whose turns the sample takes, and a signal that ends it early
 * @throws {Refusal} `voice_not_found` naming the voices of that language; `speech_unavailable`
 */
export async function voiceSample(
  { speech, speechScheduler, system, log }: Pick<Context, "speech" | "speechScheduler" | "system" | "log">,
  voiceId: string,
  { userId = "", signal }: { readonly userId?: string; readonly signal?: AbortSignal | undefined } = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const scope = new AbortController();
  const abort = (): void => scope.abort(signal?.reason);
  const cancel = system.after(SAMPLE_TIMEOUT_MS, () =>
    scope.abort(new Error(`not spoken within ${SAMPLE_TIMEOUT_MS} ms`)),
  );
  signal?.addEventListener("abort", abort);
  try {
    signal?.throwIfAborted();
    const { language } = await speech.voice(voiceId);
    const demand = { userId, instanceId: "", isPlaying: false, aheadMs: 0 };
    const pieces = speechScheduler.speak(sampleSentence(language), voiceId, demand, scope.signal);
    return wavFile(concatPcm(await Array.fromAsync(resampleStream(pieces, SAMPLE_RATE))));
  } catch (cause) {
    if (signal?.aborted) throw cause;
    if (cause instanceof VoiceUnavailable) throw new Refusal("voice_not_found", cause.message, { cause });
    log.warn({ voice_id: voiceId, err: cause }, "a voice sample could not be spoken");
    throw new Refusal("speech_unavailable", `voice ${voiceId} is not available at the moment; try again`, { cause });
  } finally {
    cancel();
    signal?.removeEventListener("abort", abort);
  }
}

function wavFile(samples: Int16Array): Uint8Array<ArrayBuffer> {
  const header = wavHeader({ sampleRate: SAMPLE_RATE, samples: samples.length });
  const file = new Uint8Array(header.length + 2 * samples.length);
  file.set(header);
  file.set(pcmToBytes(samples), header.length);
  return file;
}
