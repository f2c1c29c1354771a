import type { Voice } from "../../../../../src/client/index.ts";

/** The voices of one language. */
export interface VoiceGroup {
  /** The language by its name: "Portuguese (Brazil)". */
  readonly name: string;
  readonly voices: readonly Voice[];
}

/** Voices by the names of their languages; natural ones first. @param locale the language of the names */
export function voicesByLanguage(voices: readonly Voice[], locale: string): VoiceGroup[] {
  const names = new Intl.DisplayNames(locale, { type: "language", fallback: "code" });
  const groups = new Map<string, Voice[]>();
  for (const voice of voices) groups.set(voice.language, [...(groups.get(voice.language) ?? []), voice]);
  return [...groups]
    .map(([tag, group]) => ({ name: nameOf(tag, names), voices: group.sort(naturalFirst) }))
    .sort((a, b) => a.name.localeCompare(b.name, locale));
}

/** A voice for the first preferred language that has any: of the same region if available, and natural if possible. */
export function likelyVoice(voices: readonly Voice[], preferences: readonly string[]): Voice | undefined {
  for (const tag of preferences) {
    const [language] = tag.split("-");
    const fitting = voices.filter((voice) => voice.language.split("-")[0] === language).sort(naturalFirst);
    const found = fitting.find((voice) => voice.language === tag) ?? fitting[0];
    if (found) return found;
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
