import type { EspeakLanguage } from "./speech-jobs.ts";

/** eSpeak NG's language for a tag. */
export interface EspeakMatch {
  readonly identifier: string;
  /** True if the accent is not from the tag's region. */
  readonly isGeneric: boolean;
}

/** Tags whose language or nearest accent has a different name in eSpeak NG. */
const ALIASES: ReadonlyMap<string, { readonly tag: string; readonly isGeneric: boolean }> = new Map(
  Object.entries({
    "nb-no": { tag: "nb", isGeneric: false },
    "no-no": { tag: "nb", isGeneric: false },
    "zh-cn": { tag: "cmn", isGeneric: false },
    "zh-sg": { tag: "cmn", isGeneric: true },
    "zh-tw": { tag: "cmn", isGeneric: true },
    "zh-hk": { tag: "yue", isGeneric: false },
  }),
);

const SPAIN = "es-es";

/** Popular regions that have only a generic accent. They are listed too. */
const LISTED_REGIONS = [
  "en-AU",
  "en-CA",
  "en-IE",
  "en-IN",
  "en-NZ",
  "en-ZA",
  "es-AR",
  "es-CL",
  "es-CO",
  "es-PE",
  "es-US",
  "ar-SA",
  "de-AT",
  "de-CH",
  "fr-CA",
  "it-CH",
  "nl-BE",
  "pt-AO",
  "pt-MZ",
] as const;

/** eSpeak NG's language identifiers by tag, in lower case. */
export type LanguagesByTag = ReadonlyMap<string, string>;

/** The languages by tag; if several have the same tag, the best match. */
export function languagesByTag(languages: readonly EspeakLanguage[]): LanguagesByTag {
  const bestMatches = new Map<string, { readonly identifier: string; readonly priority: number }>();
  for (const { identifier, tags } of languages)
    for (const { tag, priority } of tags)
      if (priority < (bestMatches.get(tag)?.priority ?? Number.POSITIVE_INFINITY))
        bestMatches.set(tag, { identifier, priority });
  return new Map([...bestMatches].map(([tag, { identifier }]) => [tag, identifier]));
}

/**
 * eSpeak NG's language for a tag: the one with the same tag, otherwise an alias, otherwise the language without its
 * region. Never another language.
 */
export function espeakMatch(languages: LanguagesByTag, tag: string): EspeakMatch | undefined {
  const lowerTag = tag.toLowerCase();
  const [language = ""] = lowerTag.split("-");
  const exactIdentifier = languages.get(lowerTag);
  if (exactIdentifier) return { identifier: exactIdentifier, isGeneric: false };

  const alias =
    ALIASES.get(lowerTag) ?? (language === "es" && lowerTag !== SPAIN ? { tag: "es-419", isGeneric: true } : undefined);
  const aliasIdentifier = alias && languages.get(alias.tag);
  if (aliasIdentifier) return { identifier: aliasIdentifier, isGeneric: alias.isGeneric };

  const languageIdentifier = languages.get(language);
  return languageIdentifier
    ? { identifier: languageIdentifier, isGeneric: homeTag(language)?.toLowerCase() !== lowerTag }
    : undefined;
}

/**
 * All tags to list: the engine's own, a home region for each language without one, the aliases, and the popular
 * regions.
 */
export function espeakTags(languages: LanguagesByTag): string[] {
  const tags = new Set<string>();
  const add = (language: string, region: string): void => {
    const tag = `${language}-${region.toUpperCase()}`;
    if (/^[a-z]{2,3}-([A-Z]{2}|[0-9]{3})$/.test(tag) && espeakMatch(languages, tag)) tags.add(tag);
  };
  for (const name of languages.keys()) {
    const [language = "", region, ...extraSubtags] = name.split("-");
    if (region === undefined) add(language, homeTag(language)?.slice(language.length + 1) ?? "001");
    else if (extraSubtags.length === 0) add(language, region);
  }
  for (const tag of [...ALIASES.keys(), ...LISTED_REGIONS]) {
    const [language = "", region = ""] = tag.split("-");
    add(language, region);
  }
  return [...tags];
}

/** A language with its most likely region, according to Unicode's likely subtags; undefined if it has none. */
function homeTag(language: string): string | undefined {
  // The engine also has its own codes, such as piqd.
  if (!/^[a-z]{2,3}$/.test(language)) return undefined;
  const { region } = new Intl.Locale(language).maximize();
  return region === undefined ? undefined : `${language}-${region}`;
}
