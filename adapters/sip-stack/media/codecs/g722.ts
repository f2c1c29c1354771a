import { type Codec, MAX_PACKET_MS } from "./codec.ts";
import { type BandTables, clamp16, SubBand } from "./sub-band.ts";

const SAMPLE_RATE = 16_000;
/**
 * Clock rate of the timestamps, Hz: half the sample rate, because of a historical error in RFC 1890 (RFC 3551 section
 * 4.5.2).
 */
const CLOCK_RATE = 8000;
/** Maximum size of a packet: a byte holds two samples. */
const MAX_BYTES = (MAX_PACKET_MS * SAMPLE_RATE) / 2000;

/** One half of the symmetric filter that splits the sound into two bands and joins them again (table 11). */
const FILTER = Int32Array.of(3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11);
const TAPS = 2 * FILTER.length;
/** Past samples that the filter needs. */
const PAST_SAMPLES = TAPS - 2;

// The tables of ITU-T G.722, lower band first.
/** Upper ends of the six-bit steps, in 4096ths of the scale. */
const LOW_LIMITS = Int32Array.of(
  ...[0, 35, 72, 110, 150, 190, 233, 276, 323, 370, 422, 473, 530, 587, 650, 714, 786, 858, 940, 1023, 1121, 1219],
  ...[1339, 1458, 1612, 1765, 1980, 2195, 2557, 2919],
);
/** Step sizes, in 32768ths: four-bit steps for the prediction, six-bit steps for the output. */
const LOW_STEPS_4 = Int32Array.of(
  ...[0, -20_456, -12_896, -8968, -6288, -4240, -2584, -1200, 20_456, 12_896, 8968, 6288, 4240, 2584, 1200, 0],
);
const LOW_STEPS_6 = Int32Array.of(
  ...[-136, -136, -136, -136, -24_808, -21_904, -19_008, -16_704, -14_984, -13_512, -12_280, -11_192, -10_232, -9360],
  ...[-8576, -7856, -7192, -6576, -6000, -5456, -4944, -4464, -4008, -3576, -3168, -2776, -2400, -2032, -1688, -1360],
  ...[
    -1040, -728, 24_808, 21_904, 19_008, 16_704, 14_984, 13_512, 12_280, 11_192, 10_232, 9360, 8576, 7856, 7192, 6576,
  ],
  ...[6000, 5456, 4944, 4464, 4008, 3576, 3168, 2776, 2400, 2032, 1688, 1360, 1040, 728, 432, 136, -432, -136],
);
/** The scaling-table row of each four-bit code. */
const LOW_ROWS = Int32Array.of(0, 7, 6, 5, 4, 3, 2, 1, 7, 6, 5, 4, 3, 2, 1, 0);
const LOW: BandTables = {
  scaling: Int32Array.of(-60, -30, 58, 172, 334, 538, 1198, 3042),
  maxScale: 18_432,
  shift: 8,
  firstScale: 32,
};

const HIGH_LIMIT = 564;
const HIGH_STEPS = Int32Array.of(-7408, -1616, 7408, 1616);
const HIGH_ROWS = Int32Array.of(1, 0, 1, 0);
const HIGH: BandTables = { scaling: Int32Array.of(-214, 798), maxScale: 22_528, shift: 10, firstScale: 8 };

/**
 * G.722 at 64 kbit/s (ITU-T G.722, 2012, mode 1): speech up to 7 kHz; two samples per byte, most significant bits
 * first.
 */
export function createG722(): Codec {
  const encoder = new Encoder();
  const decoder = new Decoder();
  return {
    name: "G722",
    sampleRate: SAMPLE_RATE,
    clockRate: CLOCK_RATE,
    packetMs: [10, 20, 30, 40, 50, 60],
    encode: (frame, output, at) => encoder.encode(frame, output, at),
    decode: (bytes, at, length, output, start) => decoder.decode(bytes, at, length, output, start),
    close() {},
  };
}

/** The samples of the latest packet, after the earlier ones that the filter needs. */
class Filter {
  readonly samples: Int32Array = new Int32Array(PAST_SAMPLES + 2 * MAX_BYTES);
  /** The sums over the odd and over the even samples. */
  odd = 0;
  even = 0;

  /** Filters the samples that start at this index. */
  apply(start: number): void {
    const { samples } = this;
    let odd = 0;
    let even = 0;
    for (let i = 0; i < FILTER.length; i++) {
      odd += samples[start + 2 * i]! * FILTER[i]!;
      even += samples[start + 2 * i + 1]! * FILTER[FILTER.length - 1 - i]!;
    }
    this.odd = odd;
    this.even = even;
  }

  /** Drops `count` consumed samples. */
  drop(count: number): void {
    this.samples.copyWithin(0, count, count + PAST_SAMPLES);
  }
}

class Encoder {
  readonly #filter = new Filter();
  readonly #lowBand = new SubBand(LOW);
  readonly #highBand = new SubBand(HIGH);

  encode(frame: Int16Array, output: Uint8Array, at: number): number {
    const bytes = Math.min(frame.length >> 1, MAX_BYTES);
    const filter = this.#filter;
    filter.samples.set(frame.length > 2 * bytes ? frame.subarray(0, 2 * bytes) : frame, PAST_SAMPLES);
    for (let i = 0; i < bytes; i++) {
      filter.apply(2 * i);
      output[at + i] =
        (this.#encodeHigh((filter.even - filter.odd) >> 14) << 6) | this.#encodeLow((filter.even + filter.odd) >> 14);
    }
    filter.drop(2 * bytes);
    return bytes;
  }

  #encodeLow(sample: number): number {
    const band = this.#lowBand;
    const error = clamp16(sample - band.prediction);
    const size = error < 0 ? ~error : error;
    let step = 1;
    for (let high = LOW_LIMITS.length; step < high; ) {
      const middle = (step + high) >> 1;
      if (size < (LOW_LIMITS[middle]! * band.scale) >> 12) high = middle;
      else step = middle + 1;
    }
    const code = error >= 0 ? 62 - step : step > 2 ? 34 - step : 64 - step;
    const shortCode = code >> 2;
    band.adapt((band.scale * LOW_STEPS_4[shortCode]!) >> 15, LOW_ROWS[shortCode]!);
    return code;
  }

  #encodeHigh(sample: number): number {
    const band = this.#highBand;
    const error = clamp16(sample - band.prediction);
    const size = error < 0 ? ~error : error;
    const isLarge = size >= (HIGH_LIMIT * band.scale) >> 12;
    const code = (error < 0 ? 0 : 2) | (isLarge ? 0 : 1);
    band.adapt((band.scale * HIGH_STEPS[code]!) >> 15, HIGH_ROWS[code]!);
    return code;
  }
}

class Decoder {
  readonly #filter = new Filter();
  readonly #lowBand = new SubBand(LOW);
  readonly #highBand = new SubBand(HIGH);

  decode(bytes: Uint8Array, at: number, length: number, output: Int16Array, start: number): number {
    const count = Math.max(0, Math.min(length, MAX_BYTES, bytes.length - at, (output.length - start) >> 1));
    const filter = this.#filter;
    for (let i = 0; i < count; i++) {
      const byte = bytes[at + i]!;
      const low = this.#decodeLow(byte & 0x3f);
      const high = this.#decodeHigh(byte >> 6);
      filter.samples[PAST_SAMPLES + 2 * i] = low + high;
      filter.samples[PAST_SAMPLES + 2 * i + 1] = low - high;
      filter.apply(2 * i);
      output[start + 2 * i] = clamp16(filter.even >> 11);
      output[start + 2 * i + 1] = clamp16(filter.odd >> 11);
    }
    filter.drop(2 * count);
    return 2 * count;
  }

  #decodeLow(code: number): number {
    const band = this.#lowBand;
    const sample = clampToBand(band.prediction + ((band.scale * LOW_STEPS_6[code]!) >> 15));
    const shortCode = code >> 2;
    band.adapt((band.scale * LOW_STEPS_4[shortCode]!) >> 15, LOW_ROWS[shortCode]!);
    return sample;
  }

  #decodeHigh(code: number): number {
    const band = this.#highBand;
    const difference = (band.scale * HIGH_STEPS[code]!) >> 15;
    const sample = clampToBand(band.prediction + difference);
    band.adapt(difference, HIGH_ROWS[code]!);
    return sample;
  }
}

/** Limits a value to the 15 bits of a band. */
const clampToBand = (value: number): number => (value > 16_383 ? 16_383 : value < -16_384 ? -16_384 : value);
