import { decodeAlaw, decodeMulaw } from "../../../src/audio/samples/g711.ts";
import { concatPcm, pcmFromBytes } from "../../../src/audio/samples/pcm.ts";
import { Vad } from "../../../src/audio/voice/vad.ts";

/** Silence that ends a turn, and voice that starts one, ms. */
const TURN_MS = 400;
const VOICE_MS = 100;

/** Callbacks of an {@link Ear}. */
export interface EarReports {
  /** Returns the id of the turn. */
  started(atMs: number): string;
  stopped(item: string, atMs: number, samples: Int16Array, rate: number): void;
}

/** Notices speech in the audio of one connection. */
export class Ear {
  format = "audio/pcm";
  readonly #reports: EarReports;
  #vad: Vad | undefined;
  #rate = 0;
  #heard = 0;
  #voiced = 0;
  #quiet = 0;
  #pieces: Int16Array[] = [];
  #item: string | undefined;
  #rest = new Int16Array(0);

  constructor(reports: EarReports) {
    this.#reports = reports;
  }

  /** Returns the length of the audio, ms. */
  hear(bytes: Buffer, detects: boolean): number {
    const pcm = this.format === "audio/pcm";
    const rate = pcm ? 24_000 : 8_000;
    if (rate !== this.#rate) {
      this.#rate = rate;
      this.#vad = new Vad(rate);
      this.#rest = new Int16Array(0);
    }
    const samples = pcm ? pcmFromBytes(bytes) : this.format === "audio/pcmu" ? decodeMulaw(bytes) : decodeAlaw(bytes);
    let at = 0;
    const all = concatPcm([this.#rest, samples]);
    const frame = rate / 50;
    for (; at + frame <= all.length; at += frame) if (detects) this.#frame(all.slice(at, at + frame));
    this.#rest = all.slice(at);
    return (samples.length * 1_000) / rate;
  }

  /** Drops audio that is not part of a turn. */
  clear(): void {
    this.#pieces = [];
    this.#item = undefined;
    this.#voiced = this.#quiet = 0;
  }

  #frame(samples: Int16Array): void {
    this.#heard += 20;
    this.#pieces.push(samples);
    const speaks = this.#vad!.push(samples);
    this.#voiced = speaks ? this.#voiced + 20 : 0;
    this.#quiet = speaks ? 0 : this.#quiet + 20;
    if (this.#item === undefined) {
      if (this.#pieces.length > 30) this.#pieces.shift(); // audio before the voice
      if (this.#voiced >= VOICE_MS) this.#item = this.#reports.started(Math.max(0, this.#heard - VOICE_MS));
      return;
    }
    if (this.#quiet < TURN_MS) return;
    this.#reports.stopped(this.#item, this.#heard, concatPcm(this.#pieces), this.#rate);
    this.#item = undefined;
    this.#pieces = [];
  }
}
