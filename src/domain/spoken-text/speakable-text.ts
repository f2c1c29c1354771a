import { hasWords } from "../../base/has-words.ts";
import { EMOJI_SCRIPT, lettersOf } from "./scripts.ts";

/** Part of a text that a voice does not speak. */
export interface SkippedText {
  readonly text: string;
  /** Number of letters, digits and emoji in the text. */
  readonly characters: number;
}

/** A text as a voice can speak it. */
export interface SpeakableText {
  /** The text with spaces in place of the passages that the voice does not support. */
  readonly text: string;
  readonly skippedPassages: readonly SkippedText[];
  /** The scripts of the skipped passages, ISO 15924. */
  readonly scripts: readonly string[];
}

/** Signs such as © and ™ are pictographs to Unicode, and symbols to everyone else. */
const EMOJI = String.raw`(?![\d#*©®™‼⁉ℹ↔-⇿])(?:\p{RI}\p{RI}|\p{Extended_Pictographic}(?:[\ufe0f\u{1f3fb}-\u{1f3ff}\u{e0020}-\u{e007f}]|\u200d\p{Extended_Pictographic})*)`;
/** Scripts to look for in a passage, for its name. */
const NAMED_SCRIPTS =
  "Arab Armn Beng Cyrl Deva Ethi Geor Grek Gujr Guru Hang Hani Hebr Hira Kana Khmr Knda Laoo Latn Mlym Mong Mymr Orya Sinh Taml Telu Thaa Thai Tibt".split(
    " ",
  );
const CODE = /^[A-Z][a-z]{3}$/;
const COUNTED_CHARACTERS = new RegExp(String.raw`${EMOJI}|[\p{L}\p{N}]`, "gu");

/** Passages that a voice does not support, by its scripts. */
const PASSAGES = new Map<string, RegExp>();

/**
 * The part of a text that a voice with these scripts speaks, and the passages that it does not: letters and digits of
 * other scripts with the spaces and punctuation between them, and emoji unless `Zsye` is among the scripts.
 * @param scripts ISO 15924 codes; undefined: the voice speaks everything
 */
export function speakableText(text: string, scripts: readonly string[] | undefined): SpeakableText {
  if (scripts === undefined) return { text, skippedPassages: [], scripts: [] };
  const passages: string[] = [];
  const spokenText = text.replace(passageOf(scripts), (passage) => {
    passages.push(passage);
    return " ";
  });
  const skippedPassages = passages.map(skippedText);
  return {
    text: spokenText,
    skippedPassages,
    scripts: passages.length === 0 ? [] : scriptsIn(passages.join(" ")),
  };
}

/** A text that is not spoken, with the number of its characters. */
export function skippedText(text: string): SkippedText {
  return { text: text.trim(), characters: spokenCharacters(text) };
}

/** Several passages as one. */
export function joinSkipped(passages: readonly SkippedText[]): SkippedText {
  return {
    text: passages.map(({ text }) => text).join(" … "),
    characters: passages.reduce((sum, { characters }) => sum + characters, 0),
  };
}

/** Letters, digits and emoji of a text. */
export function spokenCharacters(text: string): number {
  return text.match(COUNTED_CHARACTERS)?.length ?? 0;
}

/** True if a voice with these scripts speaks no word of a text. */
export function isUnspeakable(text: string, scripts: readonly string[] | undefined): boolean {
  return !hasWords(speakableText(text, scripts).text);
}

function passageOf(scripts: readonly string[]): RegExp {
  const key = scripts.join(" ");
  const cachedPassage = PASSAGES.get(key);
  if (cachedPassage) return cachedPassage;
  const letters = scripts.filter((script) => CODE.test(script)).flatMap(lettersOf);
  const classes = [...new Set(["Zyyy", "Zinh", ...letters])].filter(isUnicodeScript);
  const foreignWord = `(?![${classes.map((script) => `\\p{scx=${script}}`).join("")}])[\\p{L}\\p{N}][\\p{M}\\u200c\\u200d]*`;
  const part = scripts.includes(EMOJI_SCRIPT) ? `(?:${foreignWord})` : `(?:${foreignWord}|${EMOJI})`;
  const passage = new RegExp(`${part}(?:[^\\p{L}\\p{N}]*${part})*`, "gu");
  PASSAGES.set(key, passage);
  return passage;
}

function isUnicodeScript(script: string): boolean {
  try {
    return new RegExp(`\\p{sc=${script}}`, "u") !== undefined;
  } catch {
    return false;
  }
}

function scriptsIn(text: string): string[] {
  const scripts = NAMED_SCRIPTS.filter((script) => new RegExp(`\\p{sc=${script}}`, "u").test(text));
  return new RegExp(EMOJI, "u").test(text) ? [...scripts, EMOJI_SCRIPT] : scripts;
}
