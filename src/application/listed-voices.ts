import type { Voice } from "../ports/speech.ts";

/** A filter for voices. */
export interface VoiceFilter {
  /** Only voices of this language: `pt`, or `pt-BR`. */
  readonly language?: string | undefined;
  readonly quality?: Voice["quality"] | undefined;
  /**
   * Lists every id: variants of voices, constructed languages, accents that sound like another, and the permanent id
   * behind each `xx-YY-1`. Default: false.
   */
  readonly variants?: boolean | undefined;
}

/** The voices that match a filter. */
export function listedVoices(voices: readonly Voice[], filter: VoiceFilter = {}): readonly Voice[] {
  const { language, quality, variants = false } = filter;
  const aliasedIds = new Set(variants ? [] : voices.map(({ aliasOf }) => aliasOf));
  return voices.filter(
    (voice) =>
      (language === undefined || speaks(voice, language)) &&
      (quality === undefined || voice.quality === quality) &&
      (variants || (!voice.isVariant && !aliasedIds.has(voice.id))),
  );
}

function speaks({ language }: Voice, tag: string): boolean {
  const [voiceTag, wantedTag] = [language.toLowerCase(), tag.toLowerCase()];
  return voiceTag === wantedTag || voiceTag.startsWith(`${wantedTag}-`);
}
