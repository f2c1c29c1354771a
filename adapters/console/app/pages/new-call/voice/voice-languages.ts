import { comparable } from "../../../../../../src/base/comparable.ts";
import type { Voice } from "../../../../../../src/client/index.ts";
import { VOICE_ID } from "../../../../../../src/domain/voice-id.ts";

/** A language and its voices. */
export interface VoiceLanguage {
  /** BCP 47 tag: `pt-BR`. */
  readonly tag: string;
  /** Name of the language in the user's language: "Portuguese (Brazil)". */
  readonly name: string;
  /** True for one of the user's preferred languages. */
  readonly isPreferred: boolean;
  readonly hasNatural: boolean;
  /** Natural voices first; the first of these is the best one on the server. */
  readonly voices: readonly Voice[];
  /** Names and tag for {@link matchingLanguages}. */
  readonly searchNames: readonly string[];
}

/**
 * The languages of the voices, sorted by name, preferred ones first.
 * @param locale the language of the names
 * @param preferences language tags, most preferred first
 */
export function voiceLanguages(
  voices: readonly Voice[],
  locale: string,
  preferences: readonly string[],
): VoiceLanguage[] {
  const name = languageNames(locale);
  // A search also finds "Brazilian Portuguese", and every English name.
  const otherNames = [languageNames(locale, "dialect"), languageNames("en"), languageNames("en", "dialect")];
  const groups = new Map<string, Voice[]>();
  for (const voice of voices) groups.set(voice.language, [...(groups.get(voice.language) ?? []), voice]);
  const languages = [...groups].map(([tag, group]) => {
    const language: VoiceLanguage = {
      tag,
      name: name(tag),
      isPreferred: preferences.some((preference) => baseOf(preference) === baseOf(tag)),
      hasNatural: group.some(({ quality }) => quality === "natural"),
      voices: group.sort(naturalFirst),
      searchNames: [name(tag), tag, ...otherNames.map((other) => other(tag))].map(comparable),
    };
    return { language, order: orderOf(tag, preferences) };
  });
  return languages
    .sort((a, b) => a.order - b.order || a.language.name.localeCompare(b.language.name, locale))
    .map(({ language }) => language);
}

/**
 * The languages whose name or tag matches a query, closest match first; if a whole name matches, only languages with
 * such a match. Ignores case, accents and punctuation.
 */
export function matchingLanguages(languages: readonly VoiceLanguage[], query: string): readonly VoiceLanguage[] {
  const text = comparable(query);
  if (text === "") return languages;
  const exactMatches = languages.filter(({ searchNames }) => searchNames.includes(text));
  if (exactMatches.length > 0) return exactMatches;
  return languages
    .map((language) => ({ language, distance: distanceOf(language, text) }))
    .filter(({ distance }) => distance !== undefined)
    .sort((a, b) => a.distance! - b.distance!)
    .map(({ language }) => language);
}

/** 1 for the beginning of a name, 2 for words in any order; undefined for another language. */
function distanceOf({ searchNames }: VoiceLanguage, text: string): number | undefined {
  if (searchNames.some((name) => name.startsWith(text))) return 1;
  const words = searchNames.join(" ").split(" ");
  const isMatch = text.split(" ").every((part) => words.some((word) => word.startsWith(part)));
  return isMatch ? 2 : undefined;
}

/** A voice for the first preferred language that has one: natural and from the same region, if available. */
export function suggestedVoice(voices: readonly Voice[], preferences: readonly string[]): Voice | undefined {
  for (const tag of preferences) {
    const matches = voices.filter(({ language }) => baseOf(language) === baseOf(tag)).sort(naturalFirst);
    const match = matches.find(({ language }) => language === tag) ?? matches[0];
    if (match) return match;
  }
  return undefined;
}

/** The voice with this id, even if it is listed only as `xx-YY-1`; undefined if it is not listed at all. */
export function voiceWithId(voices: readonly Voice[], id: string): Voice | undefined {
  const voice = voices.find((item) => item.id === id);
  if (voice) return voice;
  const alias = voices.find(({ alias_of }) => alias_of === id);
  return alias && { ...alias, id, alias_of: null };
}

/** The language in a voice id: `pt-BR` in `pt-BR-20`. */
export function languageOfVoice(id: string): string | undefined {
  return VOICE_ID.test(id) ? id.slice(0, id.lastIndexOf("-")) : undefined;
}

/** True for `xx-YY-1`: the best voice of its language on the server. */
export function isBest(id: string): boolean {
  return VOICE_ID.test(id) && id.endsWith("-1");
}

/** Names that browsers lack, by the name's language. */
const CARIBBEAN = new Map([["pt", "Caribe"]]);

/**
 * A function that returns a language's name for a list: "Portuguese (Brazil)".
 * @param locale the language of the names
 * @param languageDisplay `dialect` for "Brazilian Portuguese"
 */
export function languageNames(
  locale: string,
  languageDisplay: "standard" | "dialect" = "standard",
): (tag: string) => string {
  const names = new Intl.DisplayNames(locale, { type: "language", languageDisplay });
  return (tag) => {
    try {
      // Some languages have no country: "Esperanto (world)" is Esperanto.
      const name = names.of(tag.replace(/-001$/, "")) ?? tag;
      return capital(name.replace("(029)", `(${CARIBBEAN.get(baseOf(locale)) ?? "Caribbean"})`), locale);
    } catch {
      return tag; // an engine's tag may not be a language tag
    }
  };
}

/** Sort order: preferred languages in order of preference, those from the same region first; all others are equal. */
function orderOf(tag: string, preferences: readonly string[]): number {
  const index = preferences.findIndex((preference) => baseOf(preference) === baseOf(tag));
  if (index === -1) return Number.MAX_SAFE_INTEGER;
  return 2 * index + (preferences.includes(tag) ? 0 : 1);
}

function baseOf(tag: string): string {
  return tag.split("-")[0]!.toLowerCase();
}

function capital(name: string, locale: string): string {
  const [first = ""] = name;
  return first.toLocaleUpperCase(locale) + name.slice(first.length);
}

function naturalFirst(a: Voice, b: Voice): number {
  if (a.quality !== b.quality) return a.quality === "natural" ? -1 : 1;
  return a.id.localeCompare(b.id, "en", { numeric: true });
}
