import { hasWords } from "../../../base/has-words.ts";
import { isObject } from "../../../domain/input/input-checks.ts";
import type { Fault } from "../../../domain/refusal.ts";
import { plainCharacters } from "../../../domain/spoken-text/plain-characters.ts";
import { EMOJI_SCRIPT, lettersOf, scriptsOf } from "../../../domain/spoken-text/scripts.ts";
import { isUnspeakable, speakableText } from "../../../domain/spoken-text/speakable-text.ts";
import type { Speech, Voice } from "../../../ports/speech.ts";
import { unspeakableDetail } from "../../call-audio/speech/speech-scheduler.ts";

/** Maximum number of voices that a fault names. */
const MAX_NAMED = 12;

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
  const plain = plainCharacters(text);
  if (!hasWords(plain) || !isUnspeakable(plain, voice.scripts)) return undefined;
  const scripts = speakableText(plain, voice.scripts).scripts.filter((script) => script !== EMOJI_SCRIPT);
  const names = speakersOf(await speech.voices(), scripts).slice(0, MAX_NAMED);
  const fix =
    names.length === 0
      ? ", and no other voice here can; write the text in a script that it speaks"
      : `; to fix it, choose a voice that can: ${names.join(", ")}`;
  return { pointer: "/tts/text", code: "text_unspeakable", detail: unspeakableDetail(voice, scripts) + fix };
}

/** The first voice of each language that can speak these scripts, with languages written in them first. */
function speakersOf(voices: readonly Voice[], scripts: readonly string[]): string[] {
  const speakers = voices.filter(({ scripts: spoken }) => {
    const letters = spoken?.flatMap(lettersOf);
    return scripts.length > 0 && scripts.every((script) => !letters || letters.includes(script));
  });
  const first = [...new Map([...speakers].reverse().map((voice) => [voice.language, voice])).values()].reverse();
  const isNative = ({ language }: Voice) => scriptsOf(language).some((script) => scripts.includes(script));
  return [...first.filter(isNative), ...first.filter((voice) => !isNative(voice))].map(({ id }) => id);
}
