import { JitterBuffer } from "../../../../src/audio/playout/jitter-buffer.ts";
import { msToSamples, pcmInBytes } from "../../../../src/audio/samples/pcm.ts";
import { dtmfTones } from "../../../../src/audio/tones/dtmf.ts";
import { MAX_AUDIO_MS } from "./phone-message.ts";

/** Length of the audio gathered before it is played, and the maximum backlog, ms. */
const TARGET_MS = 60;
const MAX_MS = 300;
/** Length of the audio left when the next piece from the page is due, ms: the piece may be this late. */
const SPARE_MS = 40;
/** Maximum number of pending keys; each takes 200 ms. */
const MAX_KEYS = 32;

/** A phone's audio on its way into the call: its microphone, and its keys as tones. */
export class PhoneAudio {
  /** True while the microphone is muted. */
  muted: boolean = false;
  readonly #sampleRate: number;
  readonly #buffer: JitterBuffer;
  /** True once the page has sent audio; a page without a microphone is treated as silent. */
  #hasMicrophone = false;
  readonly #keys: Int16Array[] = [];
  /** Position in the tones of the first key. */
  #keyAt = 0;

  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
    this.#buffer = new JitterBuffer({ sampleRate, targetMs: TARGET_MS, maxMs: MAX_MS, spareMs: SPARE_MS });
  }

  /** Receives microphone audio as 16-bit little-endian samples; returns a fault, if any. */
  push(bytes: Uint8Array): string | undefined {
    if (bytes.length === 0 || bytes.length % 2 !== 0)
      return `a binary message has ${bytes.length} bytes: it must consist of whole 16-bit samples`;
    const limit = 2 * msToSamples(MAX_AUDIO_MS, this.#sampleRate);
    if (bytes.length > limit)
      return `a binary message has ${bytes.length} bytes: it must have at most ${limit}, ${MAX_AUDIO_MS} ms of audio`;
    this.#hasMicrophone = true;
    if (!this.muted) this.#buffer.write(pcmInBytes(bytes));
    return undefined;
  }

  /** Presses a key: 100 ms of its tones, and 100 ms of silence. Keys beyond the limit are dropped. */
  press(digit: string): void {
    if (this.#keys.length < MAX_KEYS) this.#keys.push(dtmfTones(digit, { sampleRate: this.#sampleRate }));
  }

  /**
   * Fills the whole frame: with the tones of keys, otherwise with the microphone, otherwise with silence. Returns the number of
   * samples from the page, at the start of the frame: microphone audio may be late.
   */
  read(frame: Int16Array): number {
    const count = this.#buffer.read(frame); // microphone audio during a key is discarded
    const [key] = this.#keys;
    if (key !== undefined) this.#playKey(key, frame);
    else if (this.muted) frame.fill(0);
    else if (this.#hasMicrophone) return count;
    return frame.length;
  }

  #playKey(key: Int16Array, frame: Int16Array): void {
    const count = Math.min(frame.length, key.length - this.#keyAt);
    for (let i = 0; i < count; i++) frame[i] = key[this.#keyAt + i]!;
    frame.fill(0, count);
    this.#keyAt += count;
    if (this.#keyAt < key.length) return;
    this.#keys.shift();
    this.#keyAt = 0;
  }
}
