import { decodeAlaw, decodeMulaw } from "../../../src/audio/samples/g711-companding.ts";
import { concatPcm, pcmFromBytes } from "../../../src/audio/samples/pcm.ts";
import { Vad } from "../../../src/audio/voice/vad.ts";

/** Silence that ends a turn, and voice that starts one, ms. */
const TURN_MS = 400;
const VOICE_MS = 100;

/** Callbacks of a {@link SpeechDetector}. */
export interface SpeechDetectorReports {
  /** Returns the id of the turn. */
  started(atMs: number): string;
  stopped(item: string, atMs: number, samples: Int16Array, rate: number): void;
}

/** Detects speech in the audio of one connection. */
export class SpeechDetector {
  format = "audio/pcm";
  readonly #reports: SpeechDetectorReports;
  #vad: Vad | undefined;
  #rate = 0;
  #heardMs = 0;
  #voicedMs = 0;
  #quietMs = 0;
  #chunks: Int16Array[] = [];
  #item: string | undefined;
  #remainder = new Int16Array(0);

  constructor(reports: SpeechDetectorReports) {
    this.#reports = reports;
  }

  /** Returns the length of the audio, ms. */
  push(bytes: Buffer, isDetecting: boolean): number {
    const isPcm = this.format === "audio/pcm";
    const rate = isPcm ? 24_000 : 8_000;
    if (rate !== this.#rate) {
      this.#rate = rate;
      this.#vad = new Vad(rate);
      this.#remainder = new Int16Array(0);
    }
    const samples = isPcm ? pcmFromBytes(bytes) : this.format === "audio/pcmu" ? decodeMulaw(bytes) : decodeAlaw(bytes);
    let at = 0;
    const all = concatPcm([this.#remainder, samples]);
    const frame = rate / 50;
    for (; at + frame <= all.length; at += frame) if (isDetecting) this.#frame(all.slice(at, at + frame));
    this.#remainder = all.slice(at);
    return (samples.length * 1_000) / rate;
  }

  /** Drops audio that is not part of a turn. */
  clear(): void {
    this.#chunks = [];
    this.#item = undefined;
    this.#voicedMs = this.#quietMs = 0;
  }

  #frame(samples: Int16Array): void {
    this.#heardMs += 20;
    this.#chunks.push(samples);
    const isSpeech = this.#vad!.push(samples);
    this.#voicedMs = isSpeech ? this.#voicedMs + 20 : 0;
    this.#quietMs = isSpeech ? 0 : this.#quietMs + 20;
    if (this.#item === undefined) {
      if (this.#chunks.length > 30) this.#chunks.shift(); // audio before the voice
      if (this.#voicedMs >= VOICE_MS) this.#item = this.#reports.started(Math.max(0, this.#heardMs - VOICE_MS));
      return;
    }
    if (this.#quietMs < TURN_MS) return;
    this.#reports.stopped(this.#item, this.#heardMs, concatPcm(this.#chunks), this.#rate);
    this.#item = undefined;
    this.#chunks = [];
  }
}
