import { hasWords } from "../../../base/has-words.ts";
import { screeningIn } from "../../../domain/answering/screening-policy.ts";
import { isObject } from "../../../domain/input/input-checks.ts";
import type { Fault } from "../../../domain/refusal.ts";
import { plainCharacters } from "../../../domain/spoken-text/plain-characters.ts";
import { EMOJI_SCRIPT, lettersOf, scriptsOf } from "../../../domain/spoken-text/scripts.ts";
import { isUnspeakable, speakableText } from "../../../domain/spoken-text/speakable-text.ts";
import { VOICE_ID } from "../../../domain/voice-id.ts";
import { type Speech, type Voice, VoiceUnavailable } from "../../../ports/speech.ts";
import { unspeakableDetail } from "../../call-audio/speech/speech-scheduler.ts";
import type { Context } from "../../context.ts";

/** Maximum number of voices that a fault names. */
const MAX_NAMED_VOICES = 12;

/**
 * The fault of a FIXED_TTS body whose text has words, but none that its voice can speak.
 * @param maxLength longer texts are refused for their length, characters
 */
export async function unspeakableTextFault(
  body: unknown,
  voice: Voice,
  speech: Speech,
  maxLength: number,
): Promise<Fault | undefined> {
  const tts = isObject(body) && body.type === "FIXED_TTS" ? body.tts : undefined;
  const text = isObject(tts) ? tts.text : undefined;
  if (typeof text !== "string" || text.length > 4 * maxLength) return undefined;
  const plainText = plainCharacters(text);
  if (!hasWords(plainText) || !isUnspeakable(plainText, voice.scripts)) return undefined;
  const scripts = speakableText(plainText, voice.scripts).scripts.filter((script) => script !== EMOJI_SCRIPT);
  const names = speakersOf(await speech.voices(), scripts).slice(0, MAX_NAMED_VOICES);
  const fix =
    names.length === 0
      ? ", and no other voice here can; write the text in a script that it speaks"
      : `; to fix it, choose a voice that can: ${names.join(", ")}`;
  return { pointer: "/tts/text", code: "text_unspeakable", detail: unspeakableDetail(voice, scripts) + fix };
}

/** The first voice of each language that can speak these scripts; languages written in these scripts come first. */
function speakersOf(voices: readonly Voice[], scripts: readonly string[]): string[] {
  const speakers = voices.filter(({ scripts: voiceScripts }) => {
    const letters = voiceScripts?.flatMap(lettersOf);
    return scripts.length > 0 && scripts.every((script) => !letters || letters.includes(script));
  });
  const firstVoices = [...new Map([...speakers].reverse().map((voice) => [voice.language, voice])).values()].reverse();
  const isNative = ({ language }: Voice) => scriptsOf(language).some((script) => scripts.includes(script));
  return [...firstVoices.filter(isNative), ...firstVoices.filter((voice) => !isNative(voice))].map(({ id }) => id);
}

const NO_TRANSCRIPTION =
  "call-screening assistants are recognised by their words, and no transcription engine is configured on this server; leave the policy out, or configure an engine";

/** Faults of a well-formed policy on call screening: there is no transcription engine, or the voice does not exist. */
export async function screeningFaults(
  { transcription, agent, speech }: Pick<Context, "agent" | "speech" | "transcription">,
  body: unknown,
): Promise<Fault[]> {
  const policy = screeningIn(body);
  if (policy === undefined) return [];
  const { pointer, voiceId } = policy;
  // An audio agent supplies the words of the callee.
  const isTranscribed = transcription !== undefined || (pointer.startsWith("/agent") && agent?.kind === "audio");
  if (!isTranscribed) return [{ pointer, code: "value_invalid", detail: NO_TRANSCRIPTION }];
  if (voiceId === undefined || !VOICE_ID.test(voiceId)) return [];
  try {
    await speech.voice(voiceId);
    return [];
  } catch (error) {
    if (!(error instanceof VoiceUnavailable)) throw error;
    return [{ pointer: `${pointer}/voiceId`, code: "voice_unavailable", detail: error.message }];
  }
}
