/** ISO 15924 codes of writing systems that mix scripts, and of variants, as the scripts of their letters. */
const PARTS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    Aran: ["Arab"],
    Hans: ["Hani", "Bopo"],
    Hant: ["Hani", "Bopo"],
    Hrkt: ["Hira", "Kana"],
    Jpan: ["Hira", "Kana", "Hani"],
    Kore: ["Hang", "Hani"],
    Latf: ["Latn"],
    Latg: ["Latn"],
  }),
);

/** The code for emoji, which are not letters of a script. */
export const EMOJI_SCRIPT = "Zsye";

const NAMES = new Intl.DisplayNames("en", { type: "script" });

/** The scripts that an ISO 15924 code covers: `Jpan` is Hiragana, Katakana and Han. */
export function lettersOf(script: string): readonly string[] {
  return PARTS.get(script) ?? [script];
}

/** The scripts in which a language is usually written; empty if that is unknown. @param tag BCP 47: `pt-BR` */
export function scriptsOf(tag: string): readonly string[] {
  try {
    const { script } = new Intl.Locale(tag).maximize();
    return script === undefined ? [] : lettersOf(script);
  } catch {
    return []; // not a tag
  }
}

/** The English name of a script: `Cyrillic` for `Cyrl`. */
export function scriptName(script: string): string {
  if (script === EMOJI_SCRIPT) return "emoji";
  try {
    return NAMES.of(script) ?? script;
  } catch {
    return script; // not a code
  }
}
