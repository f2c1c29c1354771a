import type { Voice } from "../../../../../src/client/index.ts";

/** The voices of one language. */
export interface VoiceGroup {
  /** The language by its name: "Portuguese (Brazil)". */
  readonly name: string;
  readonly voices: readonly Voice[];
}

/** Voices grouped by language; natural ones first. @param locale the language of the names */
export function voicesByLanguage(voices: readonly Voice[], locale: string): VoiceGroup[] {
  const names = new Intl.DisplayNames(locale, { type: "language", fallback: "code" });
  const groups = new Map<string, Voice[]>();
  for (const voice of voices) groups.set(voice.language, [...(groups.get(voice.language) ?? []), voice]);
  return [...groups]
    .map(([tag, group]) => ({ name: nameOf(tag, names), voices: group.sort(naturalFirst) }))
    .sort((a, b) => a.name.localeCompare(b.name, locale));
}

/** A voice for the first preferred language with a voice: of the same region, and natural, if available. */
export function suggestedVoice(voices: readonly Voice[], preferences: readonly string[]): Voice | undefined {
  for (const tag of preferences) {
    const [language] = tag.split("-");
    const matches = voices.filter((voice) => voice.language.split("-")[0] === language).sort(naturalFirst);
    const match = matches.find((voice) => voice.language === tag) ?? matches[0];
    if (match) return match;
  }
  return undefined;
}

function nameOf(tag: string, names: Intl.DisplayNames): string {
  try {
    return names.of(tag) ?? tag;
  } catch {
    return tag; // an engine's tag may not be a language tag
  }
}

function naturalFirst(a: Voice, b: Voice): number {
  if (a.quality !== b.quality) return a.quality === "natural" ? -1 : 1;
  return a.id.localeCompare(b.id, "en", { numeric: true });
}
