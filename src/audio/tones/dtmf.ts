import { SAMPLE } from "../../ports/media.ts";
import { msToSamples, toSample } from "../samples/pcm.ts";

/** The tones of each digit (ITU-T Q.23): the low group selects the row, the high group the column. */
const LOW_HZ = [697, 770, 852, 941];
const HIGH_HZ = [1209, 1336, 1477, 1633];
const KEYS = ["123A", "456B", "789C", "*0#D"];

// 12.75 ms: short enough that a tone and a pause of 40 ms each hold two whole blocks, long enough to separate 697 from
// 770.
const BLOCK_MS = 12.75;
const BLOCKS_TO_AGREE = 2;
// A crackle can spoil two neighbouring blocks of a digit, which must not double it; a pause of 40 ms spoils three.
const BLOCKS_TO_RELEASE = 3;
/** Maximum gap within the tone of one key, ms: more packets are rarely lost in a row. */
const MAX_GAP_MS = 200;
/** Mean square below which a block is silence: an RMS of 150. */
const NOISE_FLOOR = 150 * 150;
/** Minimum share of the two tones in a block's energy, which speech rarely reaches. */
const MIN_TONE_SHARE = 0.8;
const MAX_HIGH_OVER_LOW = powerRatio(8);
const MAX_LOW_OVER_HIGH = powerRatio(9);
const GROUP_DOMINANCE = powerRatio(8);

/** Receives each digit once, with the time in the stream at which its tone was first certain to be on. */
export type DigitListener = (digit: string, atMs: number) => void;

/**
 * Finds DTMF digits in received audio, for legs that have not negotiated telephone-events (with them, digits would be
 * reported twice). Eight Goertzel filters over blocks of 12.75 ms; two blocks in a row must agree. Allocates nothing.
 *
 * Blocks consist only of received samples. A gap extends a digit that sounds before and after it, but starts none.
 */
export class DtmfDetector {
  readonly #sampleRate: number;
  readonly #onDigit: DigitListener;
  readonly #block: Int16Array;
  readonly #lowCoefficients: Float64Array;
  readonly #highCoefficients: Float64Array;
  readonly #powers: Float64Array = new Float64Array(4);
  readonly #maxGap: number;
  #filledSamples = 0;
  /** Energy of the samples in the block. */
  #energy = 0;
  /** Number of samples so far. */
  #position = 0;
  #candidate: string | undefined;
  #candidateStart = 0;
  #agreeingBlocks = 0;
  #reportedDigit: string | undefined;
  /** Number of blocks since the reported digit was last heard, and of samples not received since then. */
  #missingBlocks = 0;
  #missingSamples = 0;
  /** Length of the current gap, samples. */
  #gap = 0;

  /**
   * @param sampleRate samples per second, 8000 or more
   * @param onDigit called within {@link push}
   */
  constructor(sampleRate: number, onDigit: DigitListener) {
    this.#sampleRate = sampleRate;
    this.#onDigit = onDigit;
    this.#block = new Int16Array(msToSamples(BLOCK_MS, sampleRate));
    this.#maxGap = msToSamples(MAX_GAP_MS, sampleRate);
    const coefficient = (hz: number) => 2 * Math.cos((2 * Math.PI * hz) / sampleRate);
    this.#lowCoefficients = Float64Array.from(LOW_HZ, coefficient);
    this.#highCoefficients = Float64Array.from(HIGH_HZ, coefficient);
  }

  /** True if the last whole block sounded like a key, or a key is still being held. */
  get isSounding(): boolean {
    return this.#candidate !== undefined || this.#reportedDigit !== undefined;
  }

  /**
   * Adds the next samples, any number of them.
   * @param marks a value of {@link SAMPLE} for each; omitted if all were received
   */
  push(frame: Int16Array, marks?: Uint8Array): void {
    if (marks === undefined) {
      this.#take(frame, 0, frame.length);
      return;
    }
    for (let at = 0; at < frame.length; ) {
      const from = at;
      const isGap = marks[at] === SAMPLE.filledIn;
      if (marks[at] === SAMPLE.afterPause) this.#release();
      at++;
      while (at < frame.length && (isGap ? marks[at] === SAMPLE.filledIn : marks[at] === SAMPLE.received)) at++;
      if (isGap) this.#skipMissing(at - from);
      else this.#take(frame, from, at);
    }
  }

  /** Handles samples that were not received. */
  #skipMissing(count: number): void {
    this.#position += count;
    this.#filledSamples = 0;
    this.#energy = 0;
    this.#gap += count;
    this.#missingSamples += count;
    if (this.#gap > this.#maxGap) this.#release();
    if (this.#missingBlocks > 0) this.#releaseInTime();
  }

  /** Releases the digit after a long enough pause, counting missing audio. */
  #releaseInTime(): void {
    if (this.#missingBlocks + this.#missingSamples / this.#block.length >= BLOCKS_TO_RELEASE)
      this.#reportedDigit = undefined;
  }

  #release(): void {
    this.#filledSamples = 0;
    this.#energy = 0;
    this.#candidate = undefined;
    this.#reportedDigit = undefined;
  }

  #take(frame: Int16Array, start: number, end: number): void {
    const block = this.#block;
    this.#gap = 0;
    for (let at = start; at < end; ) {
      const from = this.#filledSamples;
      const copyCount = Math.min(end - at, block.length - from);
      let energy = this.#energy;
      for (let i = 0; i < copyCount; i++) {
        const sample = frame[at + i]!;
        block[from + i] = sample;
        energy += sample * sample;
      }
      at += copyCount;
      this.#position += copyCount;
      this.#filledSamples = from + copyCount;
      this.#energy = energy;
      if (this.#filledSamples < block.length) return;
      this.#filledSamples = 0;
      this.#energy = 0;
      this.#decide(this.#digitInBlock(energy));
    }
  }

  #decide(digit: string | undefined): void {
    const { length } = this.#block;
    this.#agreeingBlocks = digit === this.#candidate ? this.#agreeingBlocks + 1 : 1;
    if (this.#agreeingBlocks === 1) this.#candidateStart = this.#position - length;
    this.#candidate = digit;
    if (digit === this.#reportedDigit) {
      this.#missingBlocks = this.#missingSamples = 0;
      return;
    }
    this.#missingBlocks++;
    this.#releaseInTime();
    if (digit === undefined || this.#agreeingBlocks < BLOCKS_TO_AGREE) return;
    this.#reportedDigit = digit;
    this.#missingBlocks = this.#missingSamples = 0;
    this.#onDigit(digit, Math.round((this.#candidateStart * 1000) / this.#sampleRate));
  }

  #digitInBlock(energy: number): string | undefined {
    const { length } = this.#block;
    if (energy < NOISE_FLOOR * length) return undefined;
    const row = this.#strongestOf(this.#lowCoefficients);
    if (row < 0) return undefined;
    const lowPower = this.#powers[row]!;
    const column = this.#strongestOf(this.#highCoefficients);
    if (column < 0) return undefined;
    const highPower = this.#powers[column]!;
    if (highPower > MAX_HIGH_OVER_LOW * lowPower || lowPower > MAX_LOW_OVER_HIGH * highPower) return undefined;
    // A sine of amplitude a gives (a n / 2)² of power here and a² n / 2 of energy.
    if (2 * (lowPower + highPower) < MIN_TONE_SHARE * length * energy) return undefined;
    return KEYS[row]?.[column];
  }

  /** The index of the strongest tone of a group, or -1 if none stands out. Leaves all powers in `#powers`. */
  #strongestOf(coefficients: Float64Array): number {
    const block = this.#block;
    const powers = this.#powers;
    let best = 0;
    for (let tone = 0; tone < 4; tone++) {
      const coefficient = coefficients[tone]!;
      let previous = 0;
      let before = 0;
      for (let i = 0; i < block.length; i++) {
        const next = block[i]! + coefficient * previous - before;
        before = previous;
        previous = next;
      }
      powers[tone] = previous * previous + before * before - coefficient * previous * before;
      if (powers[tone]! > powers[best]!) best = tone;
    }
    for (let tone = 0; tone < 4; tone++) {
      if (tone !== best && powers[best]! < GROUP_DOMINANCE * powers[tone]!) return -1;
    }
    return best;
  }
}

/** Options of {@link dtmfTones}. */
export interface DtmfToneOptions {
  /** Sample rate, Hz. */
  readonly sampleRate: number;
  /** Length of each digit, ms. Default: 100. */
  readonly toneMs?: number;
  /** Silence after each digit, ms. Default: 100. */
  readonly pauseMs?: number;
  /** Peak level of each of the two tones in dB of full scale. Default: -10; at most -6, to leave room for both. */
  readonly levelDb?: number;
}

/** Generates digits (0 to 9, A to D, star and hash) as tones. Throws a RangeError for any other character. */
export function dtmfTones(digits: string, options: DtmfToneOptions): Int16Array<ArrayBuffer> {
  const { sampleRate, toneMs = 100, pauseMs = 100, levelDb = -10 } = options;
  const toneLength = msToSamples(toneMs, sampleRate);
  const digitLength = toneLength + msToSamples(pauseMs, sampleRate);
  const samples = new Int16Array(digits.length * digitLength);
  const amplitude = 32767 * 10 ** (levelDb / 20);
  for (let index = 0; index < digits.length; index++) {
    const row = KEYS.findIndex((keys) => keys.includes(digits.charAt(index)));
    const lowHz = LOW_HZ[row];
    const highHz = HIGH_HZ[KEYS[row]?.indexOf(digits.charAt(index)) ?? -1];
    if (lowHz === undefined || highHz === undefined) throw new RangeError(`"${digits[index]}" is not a DTMF digit`);
    for (let i = 0; i < toneLength; i++) {
      const turn = (2 * Math.PI * i) / sampleRate;
      samples[index * digitLength + i] = toSample(amplitude * (Math.sin(turn * lowHz) + Math.sin(turn * highHz)));
    }
  }
  return samples;
}

function powerRatio(decibels: number): number {
  return 10 ** (decibels / 10);
}
