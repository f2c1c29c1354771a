import { Playback } from "../../audio/playback.ts";

/** Audio buffered before playback, maximum backlog, and audio still buffered when the next piece is due, ms. */
const BUFFERING = { targetMs: 120, maxMs: 600, spareMs: 40 };
/** Level of each side in the other ear: fully separated voices are unpleasant to hear. */
const CROSSFEED = 0.4;

/** The scope of an AudioWorklet (Web Audio 1.32), reduced to the members used here. */
declare const sampleRate: number;
declare function registerProcessor(name: string, processor: unknown): void;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}

/** Plays the two sides of a call: receives interleaved samples as messages. */
class ListenProcessor extends AudioWorkletProcessor {
  readonly #callee: Playback;
  readonly #playback: Playback;
  #left = new Float32Array(128);
  #right = new Float32Array(128);

  constructor({ processorOptions }: { readonly processorOptions: { readonly callRate: number } }) {
    super();
    const { callRate } = processorOptions;
    this.#callee = new Playback(callRate, sampleRate, BUFFERING);
    this.#playback = new Playback(callRate, sampleRate, BUFFERING);
    this.port.onmessage = ({ data }: MessageEvent<Int16Array>) => {
      this.#callee.push(data.filter((_, index) => index % 2 === 0));
      this.#playback.push(data.filter((_, index) => index % 2 === 1));
    };
  }

  process(_: unknown, [output]: readonly (readonly Float32Array[])[]): boolean {
    const [left, right = left] = output ?? [];
    if (!left || !right) return true;
    if (this.#left.length !== left.length) {
      this.#left = new Float32Array(left.length);
      this.#right = new Float32Array(left.length);
    }
    this.#callee.read(this.#left);
    this.#playback.read(this.#right);
    for (let i = 0; i < left.length; i++) {
      const callee = this.#left[i]!;
      const played = this.#right[i]!;
      left[i] = Math.max(-1, Math.min(1, callee + CROSSFEED * played));
      right[i] = Math.max(-1, Math.min(1, played + CROSSFEED * callee));
    }
    return true;
  }
}

registerProcessor("ringport-listen", ListenProcessor);
