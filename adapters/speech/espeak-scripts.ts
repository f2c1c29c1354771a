import { scriptsOf } from "../../src/domain/spoken-text/scripts.ts";

/**
 * Scripts that all of eSpeak NG's voices read as words, in their language's sounds. According to our measurements, it
 * spells the letters of any other script, or reads each as "Chinese letter". Voices for languages such as Japanese and
 * Hebrew spell Latin words.
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
/** Languages whose voices read Cyrillic, although they are written in another script, or in several. */
const CYRILLIC_LANGUAGES: ReadonlySet<string> = new Set("ka kaa lfn ltg lv uz".split(" "));
/** Scripts that these languages' voices do not read, although the languages are written in them. */
const UNREAD_SCRIPTS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({ ja: ["Hani"], ko: ["Hani"], hak: ["Hani", "Bopo"], chr: ["Cher"], shn: ["Mymr"] }),
);

/** The scripts that eSpeak NG reads in a voice for a language. @param tag the voice's tag: `pt-BR` */
export function espeakScripts(tag: string): readonly string[] {
  const [language = ""] = tag.toLowerCase().split("-");
  const unreadScripts = UNREAD_SCRIPTS.get(language) ?? [];
  const scripts = [...scriptsOf(tag), ...COMMON_SCRIPTS, ...(CYRILLIC_LANGUAGES.has(language) ? ["Cyrl"] : [])];
  return [...new Set(scripts)].filter(
    (script) => !unreadScripts.includes(script) && !(script === "Grek" && WITHOUT_GREEK.has(language)),
  );
}
