import { scriptsOf } from "../../src/domain/spoken-text/scripts.ts";

/**
 * Scripts that every voice of eSpeak NG reads as words, in the sounds of its language. Measured: it spells the
 * letters of any other script, or only reads "Chinese letter" for each. Voices of languages such as Japanese and Hebrew
 * spell Latin words.
 */
const COMMON_SCRIPTS = [
  "Latn",
  "Armn",
  "Beng",
  "Deva",
  "Geor",
  "Grek",
  "Gujr",
  "Guru",
  "Hang",
  "Knda",
  "Mlym",
  "Sinh",
  "Taml",
];
/** Languages whose voices spell Greek words letter by letter. */
const WITHOUT_GREEK: ReadonlySet<string> = new Set("af bs en hr lt mk sr vi".split(" "));
/** Languages that read Cyrillic, although they are written in another script, or in several. */
const CYRILLIC_LANGUAGES: ReadonlySet<string> = new Set("ka kaa lfn ltg lv uz".split(" "));
/** Letters that the voices of these languages do not read, although the language is written with them. */
const UNREAD_SCRIPTS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({ ja: ["Hani"], ko: ["Hani"], hak: ["Hani", "Bopo"], chr: ["Cher"], shn: ["Mymr"] }),
);

/** The scripts that eSpeak NG reads in a voice of a language. @param tag tag of the voice: `pt-BR` */
export function espeakScripts(tag: string): readonly string[] {
  const [language = ""] = tag.toLowerCase().split("-");
  const unreadScripts = UNREAD_SCRIPTS.get(language) ?? [];
  const scripts = [...scriptsOf(tag), ...COMMON_SCRIPTS, ...(CYRILLIC_LANGUAGES.has(language) ? ["Cyrl"] : [])];
  return [...new Set(scripts)].filter(
    (script) => !unreadScripts.includes(script) && !(script === "Grek" && WITHOUT_GREEK.has(language)),
  );
}
