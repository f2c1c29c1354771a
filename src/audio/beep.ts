import { Decimator } from "./decimator.ts";
import { msToSamples } from "./pcm.ts";
import { isQuiet, mayBeTone, SteadyTone } from "./steady-tone.ts";

const FRAME_MS = 20;
/** Approximate working rate, Hz: enough for tones of 2300 Hz. */
const WORKING_RATE = 8_000;
/** Frames of a tone that make a beep: from 140 ms to 2 s. A tone that lasts longer is a line, not a beep. */
const SHORTEST_FRAMES = 7;
const LONGEST_FRAMES = 100;
/** Maximum relative difference between the frequencies of neighbouring frames. */
const MOST_DRIFT = 0.025;

/** Receives each beep when it is over: its frequency, Hz, and the time in the stream at which it began. */
export type BeepListener = (hz: number, atMs: number) => void;

/**
 * Finds the beep after which a voicemail box records: one steady tone of 400 to 2300 Hz that lasts from 140 ms to two
 * seconds. Feed it from the answer on, because the ringing tone of some networks sounds alike. Allocates nothing once
 * created.
 *
 * Fits the strongest tone of each frame to the autocorrelation. Frames that agree make a beep; one in between may be
 * missing.
 */
export class BeepDetector {
  readonly #decimator: Decimator;
  readonly #onBeep: BeepListener;
  readonly #tone: SteadyTone;
  /** The decimator's history followed by the received frame; and the frame at the working rate. */
  readonly #incoming: Float64Array;
  readonly #frame: Float64Array;
  #filled: number;
  #frames = 0;
  /** The current tone: its start, number of frames, and mean frequency. */
  #start = 0;
  #run = 0;
  #hz = 0;
  #missing = false;

  /** Takes the rate in samples per second (8000 or more) and the listener, which is called within {@link push}. */
  constructor(sampleRate: number, onBeep: BeepListener) {
    const factor = Math.max(1, Math.round(sampleRate / WORKING_RATE));
    this.#decimator = new Decimator(factor);
    this.#tone = new SteadyTone(sampleRate / factor);
    this.#frame = new Float64Array(msToSamples(FRAME_MS, sampleRate / factor));
    this.#filled = this.#decimator.history;
    this.#incoming = new Float64Array(this.#filled + this.#frame.length * factor);
    this.#onBeep = onBeep;
  }

  /** Length of the current steady tone, ms; 0 if there is none. */
  get toneMs(): number {
    return this.#run * FRAME_MS;
  }

  /** Takes the next received samples, of any number. */
  push(frame: Int16Array): void {
    const incoming = this.#incoming;
    const { history } = this.#decimator;
    // Most frames are whole and quiet: only the history for the next frame is needed.
    if (this.#filled === history && history + frame.length === incoming.length && isQuiet(frame)) {
      for (let i = 0, from = frame.length - history; i < history; i++) incoming[i] = frame[from + i]!;
      this.#next(0);
      return;
    }
    for (let at = 0; at < frame.length; ) {
      const from = this.#filled;
      const take = Math.min(frame.length - at, incoming.length - from);
      for (let i = 0; i < take; i++) incoming[from + i] = frame[at + i]!;
      at += take;
      this.#filled = from + take;
      if (this.#filled < incoming.length) return;
      this.#next(this.#toneNow());
      this.#filled = history;
      incoming.copyWithin(0, incoming.length - history);
    }
  }

  #next(hz: number): void {
    this.#decide(hz);
    this.#frames++;
  }

  /** The frequency of the tone in the last 20 ms, Hz; 0 if there is none. Silence and speech are ruled out at little cost. */
  #toneNow(): number {
    if (!mayBeTone(this.#incoming, this.#decimator.history)) return 0;
    this.#decimator.run(this.#incoming, this.#frame);
    return this.#tone.hzOf(this.#frame);
  }

  #decide(hz: number): void {
    if (hz > 0 && this.#run > 0 && Math.abs(hz - this.#hz) <= MOST_DRIFT * this.#hz) {
      this.#run++;
      this.#hz += (hz - this.#hz) / this.#run;
      this.#missing = false;
      return;
    }
    if (this.#run > 0 && !this.#missing) {
      this.#missing = true;
      return;
    }
    const frames = this.#run;
    const found = this.#hz;
    const start = this.#start;
    this.#missing = false;
    this.#run = hz > 0 ? 1 : 0;
    this.#hz = hz;
    this.#start = this.#frames;
    if (frames >= SHORTEST_FRAMES && frames <= LONGEST_FRAMES) this.#onBeep(Math.round(found), start * FRAME_MS);
  }
}
