import type { ToneBurst } from "../../base/tone-burst.ts";
import type { LineTone, ToneFinding } from "./line-tones.ts";
import {
  BEEP_HZ,
  BEEP_MS,
  BUSY_CADENCES,
  BUSY_PAIR,
  CED_HZ,
  CED_MS,
  CERTAIN_BURSTS,
  CERTAIN_MS,
  CERTAIN_PAIRS,
  CNG_HZ,
  CNG_MS,
  CNG_PAUSE_MS,
  CONTINUOUS_MS,
  DIAL_PAIR,
  DOUBLE_RING_MS,
  FRENCH_HZ,
  FRENCH_RING_MS,
  MAX_BUSY_PAUSE_MS,
  MAX_SPECIAL_INFORMATION_PAUSE_MS,
  NETWORK_HZ,
  PAIR_RING_MS,
  type Range,
  RING_MS,
  RING_PAUSE_MS,
  SPECIAL_INFORMATION_HZ,
  SPECIAL_INFORMATION_MS,
} from "./tone-cadences.ts";

/** Number of tones remembered for a cadence: as many as in the longest cadence, plus one. */
const MAX_CADENCE_TONES = 5;
/** Length from which a tone that may belong to a cadence is suspect, ms. */
const SUSPECT_MS = 140;
/** Maximum time that a sound is suspect, ms. A longer sound is not a known tone. */
const MAX_SUSPECT_MS = 6_000;
/** Tolerance of a time in a cadence: a share of it, and ms. */
const TOLERANCE = 0.12;
const TOLERANCE_MS = 25;
/** Maximum relative difference between the frequencies of one cadence. */
const SAME_TONE_TOLERANCE = 0.03;

/** Callbacks of a {@link ToneClassifier}, called within its methods. */
export interface ToneReports {
  /** Called when a voicemail box has beeped. @param atMs beginning of the beep, ms since the answer */
  onBeep(hz: number, atMs: number): void;
  /** Called once for each known tone. */
  onTone(finding: ToneFinding): void;
}

/** A tone that is reported as a beep unless it proves to be part of a known tone. */
interface Candidate {
  readonly hz: number;
  readonly atMs: number;
  /** Silence after which the tone is a beep, ms. */
  readonly settleMs: number;
  /** True if the tone sounds like one ring. */
  readonly isRing?: boolean;
}

/**
 * Separates known tones from the beep of a voicemail box, which is any tone that does not fit a known tone better.
 * Receives the tones as they end, and the current one with each frame. Allocates nothing for a frame.
 */
export class ToneClassifier {
  readonly #reports: ToneReports;
  readonly #reportedTones = new Set<LineTone>();
  /** The latest tones of one cadence, oldest first. */
  #cadence: ToneBurst[] = [];
  /** The latest tones of a special information tone. */
  #sequence: ToneBurst[] = [];
  #cng: ToneBurst | undefined;
  /** The end of the latest ring, ms since the answer; undefined before the first. */
  #ringEndMs: number | undefined;
  #candidate: Candidate | undefined;
  #clockMs = 0;
  #quietMs = 0;
  #isSuspicious = false;
  /** Length of the current uninterrupted series of suspect tones, ms. */
  #suspectMs = 0;

  constructor(reports: ToneReports) {
    this.#reports = reports;
  }

  /**
   * True while a tone sounds, or has just ended, that may show that neither a person nor a voicemail box has answered.
   */
  get isSuspicious(): boolean {
    return this.#isSuspicious;
  }

  /**
   * Handles the current tone of the next `ms`.
   * @param hz its frequency, or the lower one of a pair; 0 without a tone
   * @param otherHz the higher frequency of a pair; 0 without a pair
   * @param toneMs its length so far
   * @param receivedMs the part of it that was received
   */
  addFrame(hz: number, otherHz: number, toneMs: number, ms: number, receivedMs = toneMs): void {
    this.#clockMs += ms;
    const isSuspectTone = receivedMs >= SUSPECT_MS && isSuspect(hz, otherHz, toneMs);
    if (hz === 0) this.#quietMs += ms;
    else this.#quietMs = 0;
    if (receivedMs >= CED_MS && otherHz === 0 && isWithin(hz, CED_HZ))
      this.#find("fax", [2_100], this.#clockMs - toneMs);
    if (receivedMs >= CONTINUOUS_MS && isContinuous(hz, otherHz))
      this.#find("continuous", frequencies(hz, otherHz), this.#clockMs - toneMs);
    const candidate = this.#candidate;
    if (candidate !== undefined && hz === 0 && this.#quietMs >= candidate.settleMs) this.#reportBeep(candidate);
    if (this.#cadence.length > 0 && this.#quietMs > MAX_BUSY_PAUSE_MS) this.#cadence = [];
    const isSuspectNow = isSuspectTone || this.#candidate !== undefined || this.#cadence.length > 0;
    this.#suspectMs = isSuspectNow ? this.#suspectMs + ms : 0;
    this.#isSuspicious = isSuspectNow && this.#suspectMs <= MAX_SUSPECT_MS;
  }

  /** Handles a tone that has ended. @param hasSpoken true if the callee's side has spoken before it */
  addBurst(burst: ToneBurst, hasSpoken: boolean): void {
    this.#quietMs = 0;
    if (this.#continueSequence(burst)) return;
    if (burst.otherHz > 0) this.#handlePair(burst);
    else if (isWithin(burst.hz, NETWORK_HZ)) this.#handleNetworkTone(burst, hasSpoken);
    else this.#handleOtherTone(burst, hasSpoken);
  }

  #handlePair(burst: ToneBurst): void {
    this.#reportCandidate();
    this.#remember(burst);
    const { hz, otherHz } = burst;
    if (hz === BUSY_PAIR[0] && otherHz === BUSY_PAIR[1]) this.#findBusy(CERTAIN_PAIRS);
    else if (hz !== DIAL_PAIR[0] && isWithin(burst.ms, PAIR_RING_MS)) this.#reportRing(burst);
  }

  #handleNetworkTone(burst: ToneBurst, hasSpoken: boolean): void {
    const isClose = burst.pauseMs <= MAX_BUSY_PAUSE_MS;
    if (isClose || this.#candidate?.isRing) this.#candidate = undefined;
    else this.#reportCandidate();
    this.#remember(burst);
    // Part of a modulated tone, with which some networks ring.
    if (isClose && !burst.isPauseSilent) return;
    if (this.#findBusy(CERTAIN_BURSTS)) return;
    const ringMs = isWithin(burst.hz, FRENCH_HZ) ? FRENCH_RING_MS : RING_MS;
    if (isWithin(burst.ms, ringMs) || this.#isDoubleRing) this.#handlePossibleRing(burst, hasSpoken);
    else this.#handlePossibleBeep(burst, MAX_BUSY_PAUSE_MS);
  }

  #handleOtherTone(burst: ToneBurst, hasSpoken: boolean): void {
    this.#cadence = [];
    if (isWithin(burst.hz, CNG_HZ) && isWithin(burst.ms, CNG_MS)) {
      this.#handleCallingTone(burst, hasSpoken);
      return;
    }
    this.#reportCandidate();
    const first = SPECIAL_INFORMATION_HZ[0]!;
    if (isWithin(burst.hz, first) && isWithin(burst.ms, SPECIAL_INFORMATION_MS)) {
      this.#sequence = [burst];
      this.#handlePossibleBeep(burst, MAX_SPECIAL_INFORMATION_PAUSE_MS);
    } else this.#handlePossibleBeep(burst, 0);
  }

  /**
   * Handles a tone like a calling fax machine's: it is certain once it recurs; until then it is taken for a beep if
   * speech came before.
   */
  #handleCallingTone(burst: ToneBurst, hasSpoken: boolean): void {
    const previous = this.#cng;
    this.#cng = burst;
    if (previous !== undefined && isWithin(burst.atMs - previous.atMs - previous.ms, CNG_PAUSE_MS)) {
      this.#find("fax", [1_100], previous.atMs);
      return;
    }
    this.#reportCandidate();
    this.#handlePossibleBeep(burst, hasSpoken ? 0 : CNG_PAUSE_MS[1]);
  }

  /** Handles a tone that continues a special information tone; returns false for any other tone. */
  #continueSequence(burst: ToneBurst): boolean {
    const { length } = this.#sequence;
    const next = SPECIAL_INFORMATION_HZ[length];
    if (length === 0 || next === undefined) return false;
    const isMatch =
      burst.pauseMs <= MAX_SPECIAL_INFORMATION_PAUSE_MS &&
      isWithin(burst.hz, next) &&
      isWithin(burst.ms, SPECIAL_INFORMATION_MS);
    if (!isMatch) {
      this.#sequence = [];
      return false;
    }
    this.#sequence.push(burst);
    if (length + 1 < SPECIAL_INFORMATION_HZ.length) return true;
    const hz = this.#sequence.map((part) => Math.round(part.hz));
    const { atMs } = this.#sequence[0]!;
    this.#sequence = [];
    this.#candidate = undefined;
    this.#find("special_information", hz, atMs);
    return true;
  }

  /** Adds a tone to the current cadence, or starts a new one. */
  #remember(burst: ToneBurst): void {
    const last = this.#cadence.at(-1);
    const isSameTone =
      last !== undefined &&
      burst.isPauseSilent &&
      burst.pauseMs <= MAX_BUSY_PAUSE_MS &&
      burst.otherHz === last.otherHz &&
      Math.abs(burst.hz - last.hz) <= SAME_TONE_TOLERANCE * last.hz;
    if (!isSameTone) this.#cadence = [];
    this.#cadence.push(burst);
    if (this.#cadence.length > MAX_CADENCE_TONES) this.#cadence.shift();
  }

  #findBusy(bursts: number): boolean {
    const cadence = this.#cadence;
    const first = cadence[0]!;
    const last = cadence.at(-1)!;
    const isSlow = cadence.length > 1 && last.atMs + last.ms - first.atMs >= CERTAIN_MS;
    if (cadence.length < bursts && !isSlow) return false;
    if (!BUSY_CADENCES.some((times) => matchesCadence(cadence.slice(-bursts), times))) return false;
    const { hz, otherHz, atMs } = first;
    this.#find("busy", frequencies(hz, otherHz), atMs);
    return true;
  }

  get #isDoubleRing(): boolean {
    const [first, second, third] = this.#cadence;
    if (first === undefined || second === undefined || third !== undefined) return false;
    const [ringMs, pauseMs, secondRingMs] = DOUBLE_RING_MS;
    return isNear(first.ms, ringMs) && isNear(second.pauseMs, pauseMs) && isNear(second.ms, secondRingMs);
  }

  /**
   * Handles a tone like a ring: after speech, it may also be a long beep, and is taken for ringing only once it recurs.
   */
  #handlePossibleRing(burst: ToneBurst, hasSpoken: boolean): void {
    const previousEndMs = this.#ringEndMs;
    const { hz, atMs, ms } = burst;
    this.#ringEndMs = atMs + ms;
    const pauseMs = previousEndMs === undefined ? 0 : atMs - previousEndMs;
    const isRepeated = pauseMs >= RING_PAUSE_MS[0] && pauseMs <= RING_PAUSE_MS[1] + RING_MS[0];
    if (isRepeated || !hasSpoken || this.#reportedTones.has("ringback")) this.#reportRing(burst);
    else if (!this.#reportedTones.has("busy")) this.#candidate = { hz, atMs, settleMs: RING_PAUSE_MS[1], isRing: true };
  }

  #reportRing({ hz, otherHz, atMs }: ToneBurst): void {
    this.#candidate = undefined;
    this.#find("ringback", frequencies(hz, otherHz), atMs);
  }

  #handlePossibleBeep({ hz, atMs, ms, receivedMs }: ToneBurst, settleMs: number): void {
    if (receivedMs < BEEP_MS[0]) return;
    if (hz <= BEEP_HZ[0] || !isWithin(hz, BEEP_HZ) || !isWithin(ms, BEEP_MS)) return;
    if (isWithin(hz, NETWORK_HZ) && this.#reportedTones.has("busy")) return;
    if (settleMs === 0) this.#reports.onBeep(Math.round(hz), atMs);
    else this.#candidate = { hz, atMs, settleMs };
  }

  /** Reports a possible beep as a beep, because another sound follows. */
  #reportCandidate(): void {
    if (this.#candidate !== undefined) this.#reportBeep(this.#candidate);
  }

  #reportBeep({ hz, atMs }: Candidate): void {
    this.#candidate = undefined;
    this.#cadence = [];
    this.#reports.onBeep(Math.round(hz), atMs);
  }

  #find(tone: LineTone, hz: readonly number[], atMs: number): void {
    this.#candidate = undefined;
    if (this.#reportedTones.has(tone)) return;
    this.#reportedTones.add(tone);
    this.#reports.onTone({ tone, hz, atMs });
  }
}

/** True if a tone of this length so far may belong to a known one. */
function isSuspect(hz: number, otherHz: number, toneMs: number): boolean {
  if (otherHz > 0) return toneMs <= CONTINUOUS_MS && (hz === BUSY_PAIR[0] || hz === DIAL_PAIR[0]);
  if (isWithin(hz, FRENCH_HZ)) return toneMs <= FRENCH_RING_MS[1];
  if (isWithin(hz, NETWORK_HZ)) return toneMs <= CONTINUOUS_MS;
  if (isWithin(hz, CED_HZ)) return toneMs <= CED_MS;
  return toneMs <= CNG_MS[1] && (isWithin(hz, CNG_HZ) || SPECIAL_INFORMATION_HZ.some((range) => isWithin(hz, range)));
}

/** True for the frequencies of continuous tones. 440 Hz alone is excluded: devices and people test lines with it. */
function isContinuous(hz: number, otherHz: number): boolean {
  if (otherHz > 0) return hz === DIAL_PAIR[0] && otherHz === DIAL_PAIR[1];
  return isWithin(hz, NETWORK_HZ) && !isWithin(hz, FRENCH_HZ);
}

/** True if tones and the pauses between them match a cadence, starting at any of its tones. */
function matchesCadence(bursts: readonly ToneBurst[], times: readonly number[]): boolean {
  for (let start = 0; start < times.length; start += 2) {
    const isMatch = bursts.every(({ ms, pauseMs }, index) => {
      const at = (start + 2 * index) % times.length;
      const previous = times[(at + times.length - 1) % times.length]!;
      return isNear(ms, times[at]!) && (index === 0 || isNear(pauseMs, previous));
    });
    if (isMatch) return true;
  }
  return false;
}

function frequencies(hz: number, otherHz: number): readonly number[] {
  return otherHz > 0 ? [hz, otherHz] : [Math.round(hz)];
}

function isNear(value: number, expected: number): boolean {
  return Math.abs(value - expected) <= TOLERANCE * expected + TOLERANCE_MS;
}

function isWithin(value: number, [min, max]: Range): boolean {
  return value >= min && value <= max;
}
