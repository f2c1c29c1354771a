import { Vad } from "../../audio/voice/vad.ts";
import { DEFAULT_TIMINGS, type Timings } from "../../domain/timings.ts";
import type { AudioDecoder, AudioFacts, IgnoredBytes, Mp3Stream } from "../../ports/audio-decoder.ts";
import type { PcmChunk } from "../../ports/media.ts";
import type { Speech, Voice } from "../../ports/speech.ts";
import type { Transcription, TranscriptionCapabilities, TranscriptionSession } from "../../ports/transcription.ts";
import type { VoiceActivity, VoiceActivityDetector } from "../../ports/voice-activity.ts";
import {
  acceptAny,
  acceptCount,
  acceptFlag,
  acceptList,
  acceptOnly,
  acceptPort,
  acceptRecord,
  acceptSampleRate,
  acceptText,
  acceptTyped,
  acceptVoid,
  isPlainObject,
} from "./accepted.ts";
import { type Guarded, type GuardParts, guarded, type Rules } from "./guarded.ts";
import { portError } from "./port-fault.ts";
import { type Accept, iterates, mayThrow, notifies, reads, resolves, returns, yields } from "./rules.ts";

/** Timeout for a decoder and a whole file, ms; the embedded one also has a CPU limit. */
const DECODE_MS = 60_000;
/** Maximum time until a session accepts samples, or an MP3 stream accepts bytes, ms. */
const OPEN_MS = 10_000;
/** Maximum time for a session's last transcripts, ms. */
const LAST_WORDS_MS = 10_000;

const closeLimit = { boundedBy: "src/ringport.ts" };
const acceptSamples: Accept<Int16Array> = acceptOnly("an Int16Array", (value) => value instanceof Int16Array);
const acceptPcm: Accept<PcmChunk> = acceptRecord<PcmChunk>({ sampleRate: acceptSampleRate, samples: acceptSamples });
const acceptVoice: Accept<Voice> = acceptRecord<Voice>({ id: acceptText, language: acceptText });

const speechRules = (voiceMs: number): Rules<Speech> => ({
  voices: resolves(voiceMs, { accept: acceptList(acceptVoice) }),
  voice: resolves(voiceMs, { accept: acceptVoice }),
  speak: yields(acceptPcm, { boundedBy: "src/application/call-audio/speech/promptly.ts" }),
  atOnce: reads(acceptOnly("an object", isPlainObject)),
  sliceLength: reads(sliceLength),
  warmUp: resolves({ boundedBy: "no code waits for it" }),
  close: resolves(closeLimit),
});

/** Accepts a number or a function; if the function fails, the default applies. */
function sliceLength(value: unknown, name: string, { log }: GuardParts): NonNullable<Speech["sliceLength"]> {
  if (typeof value !== "function")
    return acceptOnly<number>("a number or a function", isLength)(value, name, { log } as GuardParts);
  return (voice) => {
    try {
      const length: unknown = value(voice);
      return isLength(length) ? length : undefined;
    } catch (error) {
      log.warn({ port: name, err: portError(name, error) }, "a port failed");
      return undefined;
    }
  };
}

const isLength = (value: unknown): value is number => typeof value === "number" && value > 0;

const MP3_STREAM: Rules<Mp3Stream> = {
  push: mayThrow(acceptList(acceptPcm)),
  finish: mayThrow(acceptList(acceptPcm)),
  ignored: reads(acceptList<IgnoredBytes>(acceptAny)),
  close: notifies(),
};

const DECODER: Rules<AudioDecoder> = {
  inspect: resolves(DECODE_MS, {
    accept: acceptRecord<AudioFacts>({ durationMs: acceptCount, sampleRate: acceptSampleRate }),
  }),
  decode: resolves(DECODE_MS, { accept: acceptSamples }),
  mp3Stream: resolves(OPEN_MS, { accept: acceptPort(MP3_STREAM, "mp3Stream") }),
  close: resolves(closeLimit),
};

const SESSION: Rules<TranscriptionSession> = {
  push: mayThrow(acceptVoid),
  commit: mayThrow(acceptVoid),
  events: iterates(acceptTyped()),
  close: resolves(LAST_WORDS_MS),
};

const TRANSCRIPTION: Rules<Transcription> = {
  name: reads(acceptText, "transcription"),
  capabilities: reads(acceptRecord<TranscriptionCapabilities>({ sampleRates: acceptList(acceptSampleRate) })),
  open: resolves(OPEN_MS, { accept: acceptPort(SESSION, "transcription") }),
  check: resolves(OPEN_MS),
  close: resolves(closeLimit),
};

const DETECTOR: Rules<VoiceActivityDetector> = {
  hangOverMs: reads(acceptCount),
  isVoiced: reads(acceptFlag),
  push: returns((value) => value === true, false),
};

/** The function itself, as a port with one method. */
interface Detectors {
  create(sampleRate: number): VoiceActivityDetector;
}

const DETECTORS: Rules<Detectors> = { create: mayThrow(acceptPort(DETECTOR, "detector")) };

/** @param timings a voice look-up may take as long as the beginning of a message, but never less than the default */
export function guardedSpeech(
  speech: Speech,
  parts: GuardParts,
  { messagePreparationMs }: Pick<Timings, "messagePreparationMs"> = DEFAULT_TIMINGS,
): Guarded<Speech> {
  const voiceMs = Math.max(messagePreparationMs, DEFAULT_TIMINGS.messagePreparationMs);
  return guarded(speech, speechRules(voiceMs), "speech", parts);
}

export const guardedDecoder = (decoder: AudioDecoder, parts: GuardParts): Guarded<AudioDecoder> =>
  guarded(decoder, DECODER, "decoder", parts);

/** The guarded method of a decoder that opens MP3 streams. */
export function guardedMp3Stream(open: () => Promise<Mp3Stream>, parts: GuardParts): Guarded<() => Promise<Mp3Stream>> {
  const { mp3Stream } = guarded({ mp3Stream: () => open() }, { mp3Stream: DECODER.mp3Stream }, "decoder", parts);
  return mp3Stream as Guarded<() => Promise<Mp3Stream>>;
}

export const guardedTranscription = (engine: Transcription, parts: GuardParts): Guarded<Transcription> =>
  guarded(engine, TRANSCRIPTION, "transcription", parts);

const createBuiltIn: VoiceActivity = (rate) => new Vad(rate);

/** The detectors of an embedding program; the built-in one replaces an engine that is missing or cannot be created. */
export function guardedVoiceActivity(activity: VoiceActivity | undefined, parts: GuardParts): Guarded<VoiceActivity> {
  if (activity === undefined) return createBuiltIn as Guarded<VoiceActivity>;
  const detectors: Detectors = { create: (rate) => activity(rate) };
  const { create } = guarded(detectors, DETECTORS, "voiceActivity", parts);
  const createOrFallBack: VoiceActivity = (rate) => {
    try {
      return create(rate);
    } catch (error) {
      parts.log.warn({ port: "voiceActivity", err: portError("voiceActivity", error) }, "a port failed");
      return createBuiltIn(rate);
    }
  };
  return createOrFallBack as Guarded<VoiceActivity>;
}
