import type { EspeakWorker } from "@echogarden/espeak-ng-emscripten";
import { concatPcm } from "../../src/audio/samples/pcm.ts";
import { MAX_AUDIO_S, SpokenLength } from "../../src/audio/voice/spoken-length.ts";
import type { PcmChunk } from "../../src/ports/media.ts";
import { segments } from "./segments.ts";
import type { EspeakInput, SpeechJobContext } from "./speech-jobs.ts";

const WORDS_PER_MINUTE = 160;
const MIDDLE_PITCH = 50;
const MIDDLE_RANGE = 50;

const ENTITIES: ReadonlyMap<string, string> = new Map(
  Object.entries({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }),
);

/** Currencies whose symbol most voices skip. */
const CURRENCIES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "₹": "INR",
    "₽": "RUB",
    "₩": "KRW",
    "₺": "TRY",
    "₴": "UAH",
    "₫": "VND",
    "₪": "ILS",
    "₦": "NGN",
    "₱": "PHP",
    "₸": "KZT",
    "฿": "THB",
  }),
);

/**
 * Speaks with eSpeak NG, one segment at a time, on the calling thread. Throws if eSpeak NG is not installed or lacks
 * the voice, or if the audio is longer than 10 minutes.
 */
export async function espeakJob({ text, voice }: EspeakInput, context: SpeechJobContext<PcmChunk>): Promise<void> {
  const espeak = await espeakInstance();
  // An unknown voice would leave the previous one in place, which may speak the wrong language, without an error.
  if (espeak.set_voice(voice) !== 0) throw new Error(`eSpeak NG has no voice "${voice}"`);
  espeak.set_rate(WORDS_PER_MINUTE);
  espeak.set_pitch(MIDDLE_PITCH);
  espeak.set_range(MIDDLE_RANGE);
  const sampleRate = espeak.get_samplerate();
  const maxSamples = MAX_AUDIO_S * sampleRate;
  const length = new SpokenLength();

  for (const segment of segments(text)) {
    const pieces: Int16Array[] = [];
    let count = 0;
    espeak.synthesize(asPlainText(segment), (samples) => {
      // The samples are a view into WebAssembly memory, which the next callback overwrites.
      if (samples?.length) pieces.push(samples.slice());
      count += samples?.length ?? 0;
      return context.isCancelled() || count > maxSamples;
    });
    if (context.isCancelled()) return;
    const samples = concatPcm(pieces);
    if (samples.length === 0) continue;
    const piece = { sampleRate, samples };
    length.add(piece);
    context.emit(piece, [samples.buffer]);
  }
}

/** Escapes text: this build always reads SSML, and phonemes in double square brackets. */
function asPlainText(text: string): string {
  return text
    .replace(/[₹₽₩₺₴₫₪₦₱₸฿]/g, (sign) => ` ${CURRENCIES.get(sign)} `)
    .replace(/[&<>"]/g, (letter) => ENTITIES.get(letter) ?? "")
    .replace(/\[(?=\[)/g, "[ ");
}

let instance: Promise<EspeakWorker> | undefined;

/**
 * This thread's eSpeak NG, started once (60 to 600 ms). It speaks one text at a time. Throws if the package is not
 * installed.
 */
export function espeakInstance(): Promise<EspeakWorker> {
  instance ??= import("@echogarden/espeak-ng-emscripten").then(async ({ default: init }) => {
    const { eSpeakNGWorker: Worker } = await init();
    return new Worker();
  });
  return instance;
}
