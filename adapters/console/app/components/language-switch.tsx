import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/components.ts";
import { changeLanguage, LANGUAGES, type Language, language } from "../dictionary/language.ts";
import pt from "../dictionary/pt/components.ts";

const t = dictionary({ en, pt });

/** Selects the console's language in this browser. */
export function LanguageSwitch() {
  return (
    <select
      class="input language"
      aria-label={t.value.language}
      value={language.value}
      onChange={(event) => changeLanguage(event.currentTarget.value as Language)}
    >
      {Object.entries(LANGUAGES).map(([tag, name]) => (
        <option key={tag} value={tag} lang={tag}>
          {name}
        </option>
      ))}
    </select>
  );
}
