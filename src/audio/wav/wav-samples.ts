import { channelLayout } from "../samples/channel-layout.ts";
import { ALAW_LEVELS, MULAW_LEVELS } from "../samples/g711-companding.ts";
import { MonoMix } from "../samples/mono-mix.ts";
import { pcmFromBytes } from "../samples/pcm.ts";
import type { WavFormat } from "./wav-format.ts";

/** Reads one sample of one channel, scaled to the 16-bit range but not yet rounded. */
type SampleReader = (bytes: DataView, offset: number) => number;

const INTEGER_READERS: ReadonlyMap<number, SampleReader> = new Map<number, SampleReader>([
  // Eight-bit WAV is the odd one out: unsigned, with silence at 128.
  [1, (bytes, offset) => (bytes.getUint8(offset) - 128) * 256],
  [2, (bytes, offset) => bytes.getInt16(offset, true)],
  [3, (bytes, offset) => bytes.getInt16(offset + 1, true) + bytes.getUint8(offset) / 256],
  [4, (bytes, offset) => bytes.getInt32(offset, true) / 65536],
]);

const READERS: { readonly [Encoding in Exclude<WavFormat["encoding"], "pcm">]: (container: number) => SampleReader } = {
  float: (container) =>
    container === 4
      ? (bytes, offset) => bytes.getFloat32(offset, true) * 32768
      : (bytes, offset) => bytes.getFloat64(offset, true) * 32768,
  alaw: () => (bytes, offset) => ALAW_LEVELS[bytes.getUint8(offset)] ?? 0,
  mulaw: () => (bytes, offset) => MULAW_LEVELS[bytes.getUint8(offset)] ?? 0,
};

/** Number of bytes examined to find out at which end of their containers the samples are. */
const PROBE_BYTES = 4096;

/** Decodes the data chunk of a WAV file to samples of one channel. */
export class WavSamples {
  readonly format: WavFormat;
  readonly frameBytes: number;
  readonly #mix: MonoMix;
  #readSample: SampleReader;
  /** True until it is known at which end of larger containers the samples are. */
  #isProbing: boolean;
  /** True for 16-bit samples of one channel, which are copied. */
  readonly #isPlain: boolean;

  constructor(format: WavFormat) {
    const { encoding, bitsPerSample, containerBytes, channels, channelMask, sampleRate } = format;
    this.format = format;
    this.frameBytes = channels * containerBytes;
    this.#mix = new MonoMix(channelLayout(channels, channelMask), sampleRate);
    this.#readSample = encoding === "pcm" ? INTEGER_READERS.get(containerBytes)! : READERS[encoding](containerBytes);
    this.#isProbing = encoding === "pcm" && containerBytes > 1 && bitsPerSample < 8 * containerBytes;
    this.#isPlain = encoding === "pcm" && bitsPerSample === 16 && containerBytes === 2 && channels === 1;
  }

  /**
   * Number of bytes, of whole frames, that can be decoded now.
   * @param isComplete true if no bytes follow these
   */
  decodable(bytes: Uint8Array, isComplete: boolean): number {
    const wholeBytes = bytes.length - (bytes.length % this.frameBytes);
    if (!this.#isProbing) return wholeBytes;
    const first = bytes.findIndex((byte) => byte !== 0);
    if (first === -1) return wholeBytes;
    const silentBytes = first - (first % this.frameBytes);
    if (bytes.length - silentBytes < PROBE_BYTES && !isComplete) return silentBytes;
    this.#isProbing = false;
    this.#align(viewOf(bytes.subarray(silentBytes, Math.min(wholeBytes, silentBytes + PROBE_BYTES))));
    return wholeBytes;
  }

  /** Decodes whole frames; the last samples of a file of several channels come from {@link flush}. */
  decode(bytes: Uint8Array): Int16Array<ArrayBuffer> {
    if (this.#isPlain) return pcmFromBytes(bytes);
    const { containerBytes } = this.format;
    const view = viewOf(bytes);
    const values = new Float32Array(bytes.length / containerBytes);
    for (let i = 0; i < values.length; i++) values[i] = this.#readSample(view, i * containerBytes);
    return this.#mix.push(values);
  }

  /** Returns the rest of the samples. */
  flush(): Int16Array<ArrayBuffer> {
    return this.#mix.flush();
  }

  /**
   * Finds out at which end of larger containers the samples are. They belong in the upper bits, but some writers put
   * them in the lower bits: then every value fits into the significant bits, and the lower bits are not always zero.
   */
  #align(bytes: DataView): void {
    const { bitsPerSample, containerBytes } = this.format;
    const readValue = this.#readSample;
    const scale = 2 ** (8 * containerBytes - bitsPerSample);
    const unit = 2 ** (16 - 8 * containerBytes);
    const half = 2 ** (bitsPerSample - 1);
    let [low, high] = [0, 0];
    let isLow = false;
    for (let at = 0; at + containerBytes <= bytes.byteLength; at += containerBytes) {
      const value = readValue(bytes, at) / unit;
      low = Math.min(low, value);
      high = Math.max(high, value);
      if (value % scale !== 0) isLow = true;
    }
    if (!isLow || low < -half || high >= 2 * half || (low < 0 && high >= half)) return;
    // Without negative values, the sign was lost when the container was filled.
    const signOffset = high >= half ? 2 * half * unit : 0;
    this.#readSample = (view, offset) => {
      const value = readValue(view, offset);
      return (value >= half * unit ? value - signOffset : value) * scale;
    };
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
