/** Words in the names of voices, in the reader's language. */
export interface VoiceWords {
  readonly female: string;
  readonly male: string;
}

const ENGLISH: VoiceWords = { female: "female", male: "male" };

/**
 * A voice's display name, derived from its engine's own name: `vits-piper-pt_BR-faber-medium` is "Faber".
 * @param words default: English words
 */
export function voiceName(
  { engine, name }: { readonly engine: string; readonly name: string },
  words: VoiceWords = ENGLISH,
): string {
  switch (engine) {
    case "espeak-ng":
      return espeakName(name, words);
    case "flite":
      return name.toUpperCase();
    case "neural":
      return speakerName(name);
    case "http":
      return serverName(name);
    default:
      return name;
  }
}

/** `roa/pt-BR+f2` is the language's second female variant. */
function espeakName(name: string, words: VoiceWords): string {
  const [, variant = ""] = name.split("+");
  const [, sex, number] = /^([fm])(\d+)$/.exec(variant) ?? [];
  if (sex !== undefined) return `eSpeak, ${sex === "f" ? words.female : words.male} ${number}`;
  return variant === "" ? "eSpeak" : `eSpeak, ${variant}`;
}

/** The speakers of a model are numbered from 0, but people count from 1. */
function speakerName(name: string): string {
  const [, model = name, speaker] = /^(.+?)(?:#(\d+))?$/.exec(name) ?? [];
  return speaker === undefined ? modelName(model) : `${modelName(model)} ${Number(speaker) + 1}`;
}

/** The language in the name of a model, between its family and the voice. */
const LANGUAGE = /(?:^|-)[a-z]{2,3}[_-](?:[A-Z]{2}|\d{3})-/;
/** Parts of a model's name that do not name a voice: families, sizes, precisions, versions and dates. */
const TECHNICAL = /^(?:vits|piper|sherpa|onnx|x_low|low|medium|high|q8|(?:u?int|fp)\d+|v?\d[\d._]*)$/;

function modelName(model: string): string {
  const language = LANGUAGE.exec(model);
  const voice = language === null ? model : model.slice(language.index + language[0].length);
  const parts = voice.split("-").filter((part) => !TECHNICAL.test(part));
  return parts.length === 0 ? model : parts.map(capitalise).join(" ");
}

/** Voices of Kokoro begin with language and sex: `pf_dora`. */
const KOKORO = /^[a-z][fm]_(?:v0)?([a-z]+)$/;

function serverName(name: string): string {
  const [, kokoro] = KOKORO.exec(name) ?? [];
  if (kokoro !== undefined) return capitalise(kokoro);
  if (LANGUAGE.test(name)) return modelName(name);
  return /^\p{Ll}+(?:[_-]\p{Ll}+)*$/u.test(name) ? capitalise(name) : name;
}

/** `northern_english-male` is "Northern English Male". */
function capitalise(text: string): string {
  return text
    .split(/[_\s-]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(" ");
}
