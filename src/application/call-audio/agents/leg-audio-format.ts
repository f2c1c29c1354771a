import { decodeAlaw, decodeMulaw, encodeAlaw, encodeMulaw } from "../../../audio/samples/g711-companding.ts";
import { concatPcm, msToSamples } from "../../../audio/samples/pcm.ts";
import { PcmByteStream } from "../../../audio/samples/pcm-byte-stream.ts";
import { Resampler } from "../../../audio/samples/resample.ts";
import { NoiseWatch } from "../../../audio/sniffing/noise-watch.ts";
import { notSamples, servedFormat } from "../../../audio/sniffing/served-format.ts";
import { concatBytes } from "../../../base/concat-bytes.ts";
import { type AudioFormat, FORMAT_RATES } from "../../../ports/audio-conversation.ts";
import type { Leg } from "../../../ports/telephony.ts";

const G711_RATE = 8_000;
/** Maximum length of audio written at a time, ms; longer frames of a leg are split. */
const MAX_PIECE_MS = 60;

/** The format that carries a leg's audio without loss: the network's codec if that is G.711, otherwise PCM. */
export function formatOf({ sampleRate, codec }: Pick<Leg, "sampleRate" | "codec">): AudioFormat {
  if (sampleRate !== G711_RATE) return "pcm";
  if (codec === "PCMU") return "pcmu";
  return codec === "PCMA" ? "pcma" : "pcm";
}

/** Writes the frames of a leg in a format. Allocates nothing per frame. */
export class AudioWriter {
  readonly #format: AudioFormat;
  readonly #emit: (bytes: Uint8Array) => void;
  readonly #maxSamples: number;
  readonly #resampler: Resampler;
  readonly #samples: Int16Array;
  readonly #bytes: Uint8Array;

  /** @param emit receives the bytes of each frame; the array is reused */
  constructor(format: AudioFormat, legRate: number, emit: (bytes: Uint8Array) => void) {
    const rate = FORMAT_RATES[format];
    this.#format = format;
    this.#emit = emit;
    this.#maxSamples = msToSamples(MAX_PIECE_MS, legRate);
    this.#resampler = new Resampler(legRate, rate, this.#maxSamples);
    this.#samples = new Int16Array(msToSamples(MAX_PIECE_MS, rate) + 2);
    this.#bytes = new Uint8Array(2 * this.#samples.length);
  }

  write(frame: Int16Array): void {
    for (let at = 0; at < frame.length; at += this.#maxSamples)
      this.#write(frame.length <= this.#maxSamples ? frame : frame.subarray(at, at + this.#maxSamples));
  }

  #write(frame: Int16Array): void {
    const samples = this.#samples;
    const bytes = this.#bytes;
    const count = this.#resampler.pushInto(frame, samples);
    if (this.#format === "pcm") {
      for (let i = 0; i < count; i++) {
        bytes[2 * i] = samples[i]!;
        bytes[2 * i + 1] = samples[i]! >> 8;
      }
      this.#emit(bytes.subarray(0, 2 * count));
      return;
    }
    const encode = this.#format === "pcmu" ? encodeMulaw : encodeAlaw;
    this.#emit(encode(samples.subarray(0, count), bytes).subarray(0, count));
  }
}

/**
 * Reads the bytes of one item of audio as samples at a leg's rate; a piece may end in the middle of a sample. Samples
 * are checked before they are played: text, a file or noise is refused, and the error names it.
 */
export class AudioReader {
  readonly #format: AudioFormat;
  readonly #pcm = new PcmByteStream();
  readonly #noise = new NoiseWatch();
  readonly #resampler: Resampler;
  /** The first bytes, until they are known to be samples. */
  #opening: Uint8Array | undefined;

  constructor(format: AudioFormat, legRate: number) {
    this.#format = format;
    this.#resampler = new Resampler(FORMAT_RATES[format], legRate);
    this.#opening = format === "pcm" ? new Uint8Array(0) : undefined;
  }

  /**
   * Converts bytes to samples, in a new array. It is empty until the first bytes are known to be samples.
   * @throws {AudioFormatError} the bytes are not samples
   */
  read(bytes: Uint8Array): Int16Array {
    return this.#resampler.push(this.#decode(bytes, false));
  }

  /** The remaining samples at the end of an item. @throws {AudioFormatError} they are not samples */
  finish(): Int16Array {
    const last = this.#resampler.push(this.#decode(new Uint8Array(0), true));
    return concatPcm([last, this.#resampler.flush()]);
  }

  #decode(bytes: Uint8Array, isLast: boolean): Int16Array {
    if (this.#format === "pcmu") return decodeMulaw(bytes);
    if (this.#format === "pcma") return decodeAlaw(bytes);
    let input = bytes;
    if (this.#opening !== undefined) {
      input = this.#opening = concatBytes([this.#opening, bytes]);
      const format = servedFormat(this.#opening, isLast);
      if (format === undefined) return new Int16Array(0);
      if (format !== "samples") throw notSamples(format.toUpperCase());
      this.#opening = undefined;
    }
    const samples = this.#pcm.push(input);
    if (this.#noise.push(samples)) throw notSamples("noise");
    return samples;
  }
}
