import { concatPcm } from "../../src/audio/pcm.ts";
import { LONGEST_AUDIO_S, SpokenLength } from "../../src/audio/spoken-length.ts";
import type { PcmChunk } from "../../src/ports/media.ts";
import { espeakInstance } from "./espeak-instance.ts";
import { segments } from "./segments.ts";
import type { EspeakInput, SpeechJobContext } from "./speech-jobs.ts";

const WORDS_PER_MINUTE = 160;
const MIDDLE_PITCH = 50;
const MIDDLE_RANGE = 50;

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/**
 * Speaks with eSpeak NG, a segment at a time, in the thread that it is called on. Throws when it is not installed, for a
 * voice that it does not have, and when the text speaks for more than 10 minutes.
 */
export async function espeakJob({ text, voice }: EspeakInput, context: SpeechJobContext<PcmChunk>): Promise<void> {
  const engine = await espeakInstance();
  // An unknown voice would leave the previous one in place: the wrong language, without an error.
  if (engine.set_voice(voice) !== 0) throw new Error(`eSpeak NG has no voice "${voice}".`);
  engine.set_rate(WORDS_PER_MINUTE);
  engine.set_pitch(MIDDLE_PITCH);
  engine.set_range(MIDDLE_RANGE);
  const sampleRate = engine.get_samplerate();
  const longest = LONGEST_AUDIO_S * sampleRate;
  const length = new SpokenLength();

  for (const segment of segments(text)) {
    const heard: Int16Array[] = [];
    let count = 0;
    engine.synthesize(asPlainText(segment), (samples) => {
      // The samples are a view into the engine's memory, which the next callback overwrites.
      if (samples?.length) heard.push(samples.slice());
      count += samples?.length ?? 0;
      return context.cancelled() || count > longest;
    });
    if (context.cancelled()) return;
    const samples = concatPcm(heard);
    if (samples.length === 0) continue;
    const piece = { sampleRate, samples };
    length.add(piece);
    context.emit(piece, [samples.buffer]);
  }
}

/** This build always reads SSML, and phonemes between double square brackets: a text must reach it as a text. */
function asPlainText(text: string): string {
  return text.replace(/[&<>"]/g, (letter) => ENTITIES[letter] ?? "").replace(/\[(?=\[)/g, "[ ");
}
