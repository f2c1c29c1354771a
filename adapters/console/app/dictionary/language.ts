import { signal } from "@preact/signals";

/** The languages of the console. */
export const LANGUAGES = { en: "English", pt: "Português" } as const;
/** One of {@link LANGUAGES}. */
export type Language = keyof typeof LANGUAGES;

const KEY = "ringport-language";

/** The first preferred language that the console supports; otherwise English. */
export function chosenLanguage(preferences: readonly (string | null)[]): Language {
  for (const tag of preferences) {
    const [language = ""] = tag?.toLowerCase().split("-") ?? [];
    if (Object.hasOwn(LANGUAGES, language)) return language as Language;
  }
  return "en";
}

/** The language of all texts. */
export const language = signal(chosenLanguage([storedLanguage(), ...navigator.languages]));

/** Changes the language in this browser, permanently. */
export function changeLanguage(next: Language): void {
  language.value = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Without storage, the choice lasts until the page is closed.
  }
}

/** The locale for dates and numbers: the person's own variety of the language, such as en-GB. */
export function locale(): string {
  return (
    navigator.languages.find((tag) => chosenLanguage([tag]) === language.value && hasCurrentLanguage(tag)) ??
    language.value
  );
}

function hasCurrentLanguage(tag: string): boolean {
  return tag.toLowerCase().split("-")[0] === language.value;
}

function storedLanguage(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
