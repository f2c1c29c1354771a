import { expect, test } from "vitest";
import { espeakInstance } from "../../../adapters/speech/espeak-job.ts";
import { espeakScripts } from "../../../adapters/speech/espeak-scripts.ts";

/** "International organisation" in scripts that eSpeak NG may read. */
const WORDS = {
  Arab: "المنظمة الدولية",
  Armn: "միջազգային կազմակերպություն",
  Cyrl: "международная организация",
  Deva: "अंतरराष्ट्रीय संगठन",
  Ethi: "ዓለም አቀፍ ድርጅት",
  Geor: "საერთაშორისო ორგანიზაცია",
  Grek: "διεθνής οργανισμός",
  Hang: "국제 기구 연합",
  Hani: "国际组织联合会",
  Hebr: "הארגון הבינלאומי",
  Hira: "こくさいきかんです",
  Telu: "అంతర్జాతీయ సంస్థ",
  Thai: "องค์การระหว่างประเทศ",
} as const;
/** Maximum duration per letter of a spoken word, ms; spelling takes longer. */
const MAX_LETTER_MS = 200;
/** Maximum duration per character in scripts whose characters are syllables or words, ms. */
const MAX_SYLLABLE_MS = 400;

test.for([
  ["en-US", "gmw/en-US"],
  ["pt-BR", "roa/pt-BR"],
  ["de-DE", "gmw/de"],
  ["ru-RU", "zle/ru"],
  ["el-GR", "grk/el"],
  ["he-IL", "sem/he"],
  ["ar-SA", "sem/ar"],
  ["am-ET", "sem/am"],
  ["te-IN", "dra/te"],
  ["th-TH", "tai/th"],
  ["zh-CN", "sit/cmn"],
  ["ja-JP", "jpx/ja"],
  ["ko-KR", "ko"],
  ["lv-LV", "bat/lv"],
  ["sr-RS", "zls/sr"],
] as const)("a voice for %s reads its declared scripts as words, and spells others", async ([tag, voice]) => {
  const espeak = await espeakInstance();
  expect(espeak.set_voice(voice)).toBe(0);
  espeak.set_rate(160);
  const readableScripts = Object.entries(WORDS).filter(([script, text]) => {
    const letters = text.match(/\p{L}/gu)?.length ?? 0;
    const maxMs = letters * (script === "Hani" || script === "Hang" ? MAX_SYLLABLE_MS : MAX_LETTER_MS);
    let ms = 0;
    espeak.synthesize(text, (piece) => {
      ms += (1_000 * (piece?.length ?? 0)) / espeak.get_samplerate();
      return ms > maxMs;
    });
    return ms > 20 * letters && ms < maxMs;
  });
  const declaredScripts = espeakScripts(tag).filter((script) => script in WORDS);
  expect(readableScripts.map(([script]) => script).sort()).toEqual([...declaredScripts].sort());
  expect(espeakScripts(tag)).toContain("Latn");
});
