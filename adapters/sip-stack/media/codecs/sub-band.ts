/** Quantizer of one band: the steps of its codes, and their effect on the scale (ITU-T G.722 tables 14 to 22). */
export interface BandTables {
  /** Change of the scale's logarithm for each code. */
  readonly scaling: Int32Array;
  readonly maxScale: number;
  /** Shift that turns the scale's logarithm into the scale. */
  readonly shift: number;
  /** The initial scale. */
  readonly firstScale: number;
}

/** Powers of two between 1 and 2, in steps of a 32nd (table 21). */
const POWERS = Int32Array.from({ length: 32 }, (_, i) => Math.floor(2048 * 2 ** (i / 32) + 0.5));

/** Order of the predictor's zeros (past differences), and of its poles (past signals). */
const ZEROS = 6;
const MAX_SECOND_POLE = 12_288;

/** Limits a value to 16 bits. */
export const clamp16 = (value: number): number => (value > 32_767 ? 32_767 : value < -32_768 ? -32_768 : value);

/**
 * Adaptive prediction and scale of one G.722 band, the same in encoder and decoder (ITU-T G.722, section 3.6 and the
 * blocks of 6.2.1 and 6.2.2). Uses 16-bit integers, as in the Recommendation, so that both sides stay in step.
 */
export class SubBand {
  /** The expected next sample. */
  prediction = 0;
  /** The current step size. */
  scale: number;
  readonly #tables: BandTables;
  #logScale = 0;
  /** The part of the prediction that comes from the zeros. */
  #zeros = 0;
  #signal1 = 0;
  #partial1 = 0;
  #partial2 = 0;
  #pole1 = 0;
  #pole2 = 0;
  readonly #differences = new Int32Array(ZEROS);
  readonly #coefficients = new Int32Array(ZEROS);

  constructor(tables: BandTables) {
    this.#tables = tables;
    this.scale = tables.firstScale;
  }

  /** Updates the predictor with the quantized difference of the latest sample and the table row of its code. */
  adapt(difference: number, row: number): void {
    this.#rescale(row);
    this.#predict(difference);
  }

  #rescale(row: number): void {
    const { scaling, maxScale, shift } = this.#tables;
    const next = ((this.#logScale * 127) >> 7) + scaling[row]!;
    this.#logScale = next < 0 ? 0 : next > maxScale ? maxScale : next;
    const power = POWERS[(this.#logScale >> 6) & 31]!;
    const places = shift - (this.#logScale >> 11);
    this.scale = (places < 0 ? power << -places : power >> places) << 2;
  }

  #predict(difference: number): void {
    const signal = clamp16(this.prediction + difference);
    const partial = clamp16(this.#zeros + difference);
    const sameSignAsLast = partial < 0 === this.#partial1 < 0;
    const sameSignAsBefore = partial < 0 === this.#partial2 < 0;

    const slope = clamp16(this.#pole1 << 2);
    const signedSlope = sameSignAsLast ? clamp16(-slope) : slope;
    let pole2 = (sameSignAsBefore ? 128 : -128) + (signedSlope >> 7) + ((this.#pole2 * 32_512) >> 15);
    pole2 = pole2 > MAX_SECOND_POLE ? MAX_SECOND_POLE : pole2 < -MAX_SECOND_POLE ? -MAX_SECOND_POLE : pole2;
    const maxPole1 = clamp16(15_360 - pole2);
    let pole1 = clamp16((sameSignAsLast ? 192 : -192) + ((this.#pole1 * 32_640) >> 15));
    pole1 = pole1 > maxPole1 ? maxPole1 : pole1 < -maxPole1 ? -maxPole1 : pole1;

    const differences = this.#differences;
    const coefficients = this.#coefficients;
    const step = difference === 0 ? 0 : 128;
    let zeros = 0;
    for (let i = ZEROS - 1; i >= 0; i--) {
      const sameSign = difference < 0 === differences[i]! < 0;
      const coefficient = clamp16((sameSign ? step : -step) + ((coefficients[i]! * 32_640) >> 15));
      coefficients[i] = coefficient;
      const pastDifference = i === 0 ? difference : differences[i - 1]!;
      differences[i] = pastDifference;
      zeros += (coefficient * clamp16(pastDifference + pastDifference)) >> 15;
    }

    this.#zeros = clamp16(zeros);
    const poles = ((pole1 * clamp16(signal + signal)) >> 15) + ((pole2 * clamp16(this.#signal1 + this.#signal1)) >> 15);
    this.prediction = clamp16(clamp16(poles) + this.#zeros);
    this.#signal1 = signal;
    this.#partial2 = this.#partial1;
    this.#partial1 = partial;
    this.#pole1 = pole1;
    this.#pole2 = pole2;
  }
}
