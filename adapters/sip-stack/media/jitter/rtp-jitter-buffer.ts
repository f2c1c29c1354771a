import { type Codec, MAX_PACKET_MS } from "../codecs/codec.ts";
import { Concealment } from "./concealment.ts";
import { PacketStore, type PutResult } from "./packet-store.ts";
import { PlayoutDelay } from "./playout-delay.ts";
import { SampleLine } from "./sample-line.ts";
import { TimeScale } from "./time-scale.ts";

const FRAME_MS = 20;
/** Deviation of the delay from its target at which time-scaling starts, ms. */
const MAX_EXCESS_MS = 40;
const MAX_SHORTFALL_MS = 20;
/** Deviation at which time-scaling is done even if audible, ms. */
const URGENT_MS = 80;
/** Number of frames between two attempts at other time-scaling: the search costs as much as the rest of a frame. */
const ADAPT_EVERY = 4;
/** Length above which a gap is skipped, ms. */
const MAX_GAP_MS = 1_000;
/** Duration of the codec's concealment before it fades, ms. */
const CODEC_CONCEALS_MS = 60;
/** Minimum gap between timestamps, without a loss, that is treated as the peer pausing, ms. */
const MIN_PAUSE_MS = 15;
const EMPTY = new Uint8Array(0);

/**
 * Turns packets in any order and with any timing into a frame every 20 ms: reorders them, drops duplicates, delays
 * audio as the network's jitter requires, conceals losses, and follows the sender's clock.
 *
 * Times are ms of one monotonic clock. Allocates nothing after construction.
 */
export class RtpJitterBuffer {
  /** Number of late packets. */
  late = 0;
  duplicated = 0;
  readonly delay: PlayoutDelay = new PlayoutDelay();
  readonly #codec: Codec;
  readonly #store = new PacketStore();
  readonly #concealment: Concealment;
  readonly #timeScale: TimeScale;
  /** Number of timestamp units per sample, and per ms. */
  readonly #unitsPerSample: number;
  readonly #unitsPerMs: number;
  /** Maximum length of a gap that is filled, samples. */
  readonly #maxGap: number;
  /** Played and waiting samples, at the codec's rate. */
  readonly #line: SampleLine;
  /** Maximum number of samples that the decoder writes in one call. */
  readonly #maxDecoded: number;
  /** Extended timestamp of the last packet, and of the next sample to be decoded. */
  #lastTime = -1;
  #dueTime = 0;
  /** True while no sample is played: before the first packet, and after the last one. */
  #isStarving = true;
  /** True until the first sample is played, which needs no fade. */
  #awaitsFirst = true;
  /** True if the gap is not a loss: the peer sends a key, or pauses. */
  #isInPause = false;
  /**
   * Extended timestamp of the end of the last decoded packet, -1 if it cannot be used; number of packets lost since
   * then.
   */
  #audioEnd = -1;
  #lostPackets = 0;
  /** Number of samples in the last decoded packet, and of samples concealed by the codec since then. */
  #packetSamples: number;
  #codecConcealed = 0;

  constructor(codec: Codec) {
    this.#codec = codec;
    const { sampleRate, clockRate } = codec;
    this.#unitsPerSample = clockRate / sampleRate;
    this.#unitsPerMs = clockRate / 1000;
    this.#maxGap = (MAX_GAP_MS * sampleRate) / 1000;
    this.#concealment = new Concealment(sampleRate);
    this.#timeScale = new TimeScale(sampleRate);
    this.#maxDecoded = (MAX_PACKET_MS * sampleRate) / 1000;
    this.#packetSamples = (FRAME_MS * sampleRate) / 1000;
    this.#line = new SampleLine(this.#concealment.history, 2 * this.#timeScale.reach + 2 * this.#maxDecoded);
  }

  /**
   * Adds an audio packet; its payload is copied.
   *
   * @param sequence extended, so that it never wraps
   * @param isTimely true if it arrived at this time; otherwise it may have arrived earlier, so its timing is not
   * measured
   */
  take(
    sequence: number,
    timestamp: number,
    bytes: Uint8Array,
    at: number,
    length: number,
    arrivalMs: number,
    isTimely: boolean,
  ): void {
    const time = this.#extend(timestamp);
    const isSameClock = this.delay.addPacket(time / this.#unitsPerMs, arrivalMs, isTimely);
    if (!isSameClock) this.#resetTimeline();
    this.#count(this.#store.put(sequence, time, bytes, at, length));
  }

  /** Adds a packet without audio: its sequence number is used, so no packet is missing. */
  skip(sequence: number, timestamp: number): void {
    const time = this.#lastTime < 0 ? timestamp : this.#lastTime;
    this.#count(this.#store.put(sequence, time, EMPTY, 0, 0));
  }

  /**
   * Fills the whole frame (20 ms at the codec's rate) with the samples due at `now`.
   * @param marks receives a value of `SAMPLE` for each sample
   * @returns false if all of the frame was received, and no pause precedes it
   */
  read(frame: Int16Array, now: number, marks: Uint8Array): boolean {
    while (this.#line.length < frame.length) this.#fill(now, frame.length - this.#line.length);
    this.#adapt(now, frame.length);
    return this.#line.take(frame, marks);
  }

  /** True if a whole frame can be read without concealment. */
  isReady(frameLength: number, now: number): boolean {
    if (this.#line.length >= frameLength) return true;
    const first = this.#store.first();
    return first >= 0 && (!this.#isStarving || this.#isDue(this.#store.time(first), now));
  }

  /** Prepares for another source; keeps the measured jitter. */
  restart(): void {
    this.#store.clear();
    this.delay.restart();
    this.#lastTime = -1;
    this.#audioEnd = -1;
    this.#isStarving = true;
  }

  #count(result: PutResult): void {
    if (result === "late") this.late++;
    else if (result === "duplicate") this.duplicated++;
  }

  /**
   * Takes a step towards a longer line: adds decoded samples, concealed samples or silence, or at least drops a packet
   * without audio.
   */
  #fill(now: number, length: number): void {
    const store = this.#store;
    const first = store.first();
    if (first < 0) {
      this.#isStarving = true;
      this.#conceal(length);
      return;
    }
    if (store.length(first) === 0) {
      this.#pass(first);
      this.#isInPause = true;
      return;
    }
    const time = store.time(first);
    const gap = this.#isStarving ? 0 : Math.floor((time - this.#dueTime) / this.#unitsPerSample);
    const isSmall = gap > 0 && gap < this.#maxGap;
    if (gap > 0 && (first === store.next || this.#isInPause)) {
      this.#isInPause = true; // no packet was lost: the peer was silent for a while
      if (isSmall && !this.#isDue(time, now)) {
        this.#conceal(Math.min(length, gap));
        this.#dueTime += Math.min(length, gap) * this.#unitsPerSample;
        return;
      }
    } else if (isSmall) {
      const samples = Math.min(gap, this.#packetSamples);
      this.#dueTime += samples * this.#unitsPerSample;
      if (samples < gap || !this.#recover(first, samples)) this.#conceal(samples);
      return;
    } else if (this.#isStarving && !this.#isDue(time, now)) {
      if (!this.#endsGap(first, time, now)) this.#conceal(length);
      return;
    }
    this.#isStarving = false;
    this.#decode(first);
  }

  /**
   * True if the gap ends with the lost packet before this one: that packet is due now, and this one has a copy of it.
   */
  #endsGap(next: number, time: number, now: number): boolean {
    const lostTime = time - this.#packetSamples * this.#unitsPerSample;
    if (this.#awaitsFirst || next === this.#store.next || !this.#isDue(lostTime, now)) return false;
    if (!this.#recover(next, this.#packetSamples)) return false;
    this.#isStarving = false;
    this.#dueTime = time;
    return true;
  }

  #decode(sequence: number): void {
    const store = this.#store;
    const line = this.#line;
    line.reserve(this.#maxDecoded);
    const payload = store.payload(sequence);
    this.#pass(sequence);
    const samples = this.#codec.decode(payload, 0, store.length(sequence), line.samples, line.tail);
    const time = store.time(sequence);
    this.#dueTime = time + samples * this.#unitsPerSample;
    if (samples === 0) return;
    const isAfterPause = this.#hasPaused(time);
    this.#isInPause = false;
    this.#awaitsFirst = false;
    this.#packetSamples = samples;
    this.#audioEnd = this.#dueTime;
    this.#lostPackets = 0;
    this.#append(samples, isAfterPause);
  }

  /** Passes a packet that is played or dropped; missing ones before it are lost. */
  #pass(sequence: number): void {
    if (this.#store.next >= 0) this.#lostPackets += sequence - this.#store.next;
    this.#store.pass(sequence);
  }

  /** True if the peer paused before this timestamp: the time between its packets was not lost. */
  #hasPaused(time: number): boolean {
    if (this.#audioEnd < 0) return false;
    const lostTime = this.#lostPackets * this.#packetSamples * this.#unitsPerSample;
    return time - this.#audioEnd - lostTime >= MIN_PAUSE_MS * this.#unitsPerMs;
  }

  /** Decodes a lost packet from the copy in the next packet; returns false if there is none. */
  #recover(next: number, samples: number): boolean {
    if (this.#codec.recover === undefined) return false;
    const store = this.#store;
    const line = this.#line;
    line.reserve(this.#maxDecoded);
    const recoveredCount = this.#codec.recover(
      store.payload(next),
      0,
      store.length(next),
      samples,
      line.samples,
      line.tail,
    );
    if (recoveredCount !== samples) return false;
    this.#append(recoveredCount);
    return true;
  }

  /**
   * Appends the samples that the decoder wrote after the tail. Samples blended with concealed ones do not count as
   * received.
   */
  #append(count: number, isAfterPause = false): void {
    const line = this.#line;
    const blendedCount = this.#concealment.resume(line.samples, line.tail, count);
    line.addConcealed(blendedCount);
    const hasMark = isAfterPause && blendedCount < count;
    if (hasMark) line.markAfterPause();
    line.addReceived(count - blendedCount - (hasMark ? 1 : 0));
    this.#codecConcealed = 0;
  }

  #conceal(length: number): void {
    if (!this.#awaitsFirst && !this.#isInPause && !this.#concealment.isActive && this.#codecConceals(length)) return;
    const line = this.#line;
    line.reserve(length);
    if (this.#awaitsFirst) line.samples.fill(0, line.tail, line.tail + length);
    else if (this.#isInPause) this.#concealment.fadeOut(line.samples, line.tail, length);
    else this.#concealment.fill(line.samples, line.tail, length, this.#codecConcealed > 0);
    line.addConcealed(length);
  }

  #codecConceals(length: number): boolean {
    const { sampleRate } = this.#codec;
    if (this.#codec.conceal === undefined || this.#codecConcealed >= (CODEC_CONCEALS_MS * sampleRate) / 1000)
      return false;
    const step = sampleRate / 400; // codecs conceal multiples of 2.5 ms
    const line = this.#line;
    line.reserve(this.#maxDecoded);
    const concealedCount = this.#codec.conceal(Math.ceil(length / step) * step, line.samples, line.tail);
    if (concealedCount === 0) return false;
    line.addConcealed(concealedCount); // the codec's own concealment continues its signal: no blend
    this.#codecConcealed += concealedCount;
    return true;
  }

  /** Plays slightly faster or slower if the delay is far from its target. */
  #adapt(now: number, frameLength: number): void {
    if (this.#isStarving || this.#concealment.isActive) return;
    const excessMs = this.#excessMs(now);
    if (excessMs <= MAX_EXCESS_MS && excessMs >= -MAX_SHORTFALL_MS) return;
    const isUrgent = Math.abs(excessMs) > URGENT_MS;
    if (!isUrgent && !this.#hasTurn(frameLength)) return;
    const { reach, maxChange } = this.#timeScale;
    if (excessMs > 0) {
      if (this.#decodeUpTo(Math.max(reach, frameLength + maxChange))) this.#timeScale.shorten(this.#line, isUrgent);
    } else if (this.#decodeUpTo(reach)) this.#timeScale.lengthen(this.#line, isUrgent);
  }

  /**
   * True if it is this call's turn to search. Turns follow from the random timestamps, and so spread the searches of
   * all calls over the frames.
   */
  #hasTurn(frameLength: number): boolean {
    return Math.floor(this.#dueTime / (this.#unitsPerSample * frameLength)) % ADAPT_EVERY === 0;
  }

  /** Time beyond the target that the next sample has waited, ms. */
  #excessMs(now: number): number {
    const playedTime = this.#dueTime / this.#unitsPerMs - (this.#line.length * 1000) / this.#codec.sampleRate;
    return now - this.delay.baseMs - playedTime - this.delay.targetMs;
  }

  /** Decodes until this many samples wait; returns false if that is impossible. */
  #decodeUpTo(samples: number): boolean {
    while (this.#line.length < samples && this.#continues()) this.#decode(this.#store.next);
    return this.#line.length >= samples;
  }

  /** True if the next packet has arrived and continues the line without a gap. */
  #continues(): boolean {
    const { next } = this.#store;
    return this.#store.first() === next && this.#store.length(next) > 0 && this.#store.time(next) === this.#dueTime;
  }

  /** True if audio with this timestamp is due now, or early enough to be played. */
  #isDue(time: number, now: number): boolean {
    return now - this.delay.baseMs - time / this.#unitsPerMs >= this.delay.targetMs - FRAME_MS / 2;
  }

  #resetTimeline(): void {
    this.#store.clear();
    this.#audioEnd = -1;
    this.#isStarving = true;
  }

  #extend(timestamp: number): number {
    const last = this.#lastTime;
    this.#lastTime = last < 0 ? 2 ** 32 + timestamp : last + ((timestamp - last) | 0);
    return this.#lastTime;
  }
}
