import { FRAME_MS } from "../ports.ts";

/** The keys by their event codes (RFC 4733 section 3.2). */
const KEYS = "0123456789*#ABCD";
/** Length of a payload with one event. */
export const EVENT_BYTES = 4;
const TONE_FRAMES = 5;
/** Number of times that the last packet is sent. */
const END_PACKETS = 3;
const PAUSE_FRAMES = 2;
const VOLUME = 10; // -10 dBm0
/**
 * Maximum time by which packets of an earlier event may arrive after those of a newer one, in seconds of the event
 * clock.
 */
const MAX_REORDER_S = 10;

interface Keys {
  readonly digits: string;
  readonly onSent: () => void;
}

/**
 * Outgoing keys: a packet every 20 ms for 100 ms, the last one three times, then a 40 ms pause. They replace the audio.
 */
export class EventSender {
  readonly #pending: Keys[] = [];
  /** Index of the current key in `#pending[0]`, and of the frame within that key. */
  #key = 0;
  #frame = 0;

  /** True if the next frame belongs to a key, or to the pause after one. */
  get isBusy(): boolean {
    return this.#pending.length > 0;
  }

  /** True if the next frame is the first of a key: its timestamp is that of the whole event. */
  get isKeyStart(): boolean {
    return this.#frame === 0;
  }

  /** Plays these keys after all others; calls `onSent` after the last one. @throws {RangeError} an unknown key */
  add(digits: string, onSent: () => void): void {
    for (const digit of digits)
      if (!KEYS.includes(digit.toUpperCase())) throw new RangeError(`"${digit}" is not a key: 0 to 9, *, #, A to D`);
    if (digits === "") onSent();
    else this.#pending.push({ digits: digits.toUpperCase(), onSent });
  }

  /**
   * Writes the payload of the next frame; returns false during the pause, when silence is sent.
   * @param clockRate clock rate of the events, Hz
   */
  next(output: Uint8Array, at: number, clockRate: number): boolean {
    const keys = this.#pending[0];
    if (keys === undefined) return false;
    const frame = this.#frame++;
    const isTone = frame < TONE_FRAMES + END_PACKETS - 1;
    if (isTone) {
      const duration = (Math.min(frame + 1, TONE_FRAMES) * FRAME_MS * clockRate) / 1000;
      output[at] = KEYS.indexOf(keys.digits.charAt(this.#key));
      output[at + 1] = (frame >= TONE_FRAMES - 1 ? 0x80 : 0) | VOLUME;
      output[at + 2] = duration >>> 8;
      output[at + 3] = duration;
    } else if (frame === TONE_FRAMES + END_PACKETS + PAUSE_FRAMES - 2) {
      this.#frame = 0;
      this.#key++;
      if (this.#key === keys.digits.length) {
        this.#key = 0;
        this.#pending.shift();
        keys.onSent();
      }
    }
    return isTone;
  }

  /** Drops all keys and resolves the pending calls. */
  stop(): void {
    this.#frame = 0;
    this.#key = 0;
    for (const { onSent } of this.#pending.splice(0)) onSent();
  }
}

/** Incoming keys. An event is identified by its timestamp and code: the marker and the end may be lost. */
export class EventReceiver {
  #hasEvent = false;
  #timestamp = 0;
  #event = 0;
  #duration = 0;
  #hasEnded = false;

  /** The key, if this packet is the first of its event. */
  take(
    bytes: Uint8Array,
    at: number,
    length: number,
    timestamp: number,
    marker: boolean,
    clockRate: number,
  ): string | undefined {
    if (length < EVENT_BYTES) return undefined;
    const event = bytes[at]!;
    const duration = (bytes[at + 2]! << 8) | bytes[at + 3]!;
    const elapsed = this.#hasEvent ? (timestamp - this.#timestamp) | 0 : 1;
    if (elapsed < 0 && elapsed > -MAX_REORDER_S * clockRate) return undefined;
    const isNewKey = !(
      this.#hasEvent &&
      event === this.#event &&
      (elapsed === 0 || this.#continues(elapsed, duration, marker))
    );
    if (isNewKey) this.#hasEnded = false;
    this.#hasEvent = true;
    this.#timestamp = timestamp;
    this.#event = event;
    this.#duration = duration;
    if ((bytes[at + 1]! & 0x80) !== 0) this.#hasEnded = true;
    return isNewKey ? KEYS[event] : undefined;
  }

  /** Prepares for another stream, whose timestamps are unrelated to the old ones. */
  reset(): void {
    this.#hasEvent = false;
  }

  /**
   * True if a packet with the same code but another timestamp is still the same key: the next segment of a long key
   * (RFC 4733 section 2.5.1.3), or a sender that moves the timestamp with every packet.
   */
  #continues(elapsed: number, duration: number, marker: boolean): boolean {
    if (marker || this.#hasEnded) return false;
    return duration > this.#duration || (this.#duration === 0xffff && elapsed === 0xffff);
  }
}
