import { Capture } from "./capture.ts";
import { LevelMeter } from "./level-meter.ts";
import { Playback } from "./playback.ts";

/** A conversation needs a short delay. */
const BUFFERING = { targetMs: 60, maxMs: 300, spareMs: 40 };
/** Interval between level reports, ms. */
const LEVEL_MS = 100;

/** Options of the node, as `processorOptions`. */
export interface ProcessorOptions {
  /** Sample rate of the call, Hz. */
  readonly callRate: number;
}

/** A message from the processor: a frame from the microphone, or the levels of both directions, 0 to 100. */
export type ProcessorReport = Int16Array<ArrayBuffer> | { readonly heard: number; readonly spoken: number };

/**
 * Both directions of a call's audio, on the browser's audio thread. The messages it receives are the caller's audio as
 * `Int16Array`, and null at the end.
 */
class CallProcessor extends AudioWorkletProcessor {
  readonly #playback: Playback;
  readonly #capture: Capture;
  readonly #heardLevel: LevelMeter;
  readonly #spokenLevel: LevelMeter;
  #samplesUntilLevels: number;
  #isStopped = false;

  constructor({ processorOptions }: { readonly processorOptions: ProcessorOptions }) {
    super();
    const { callRate } = processorOptions;
    this.#playback = new Playback(callRate, sampleRate, BUFFERING);
    this.#capture = new Capture(sampleRate, callRate, (frame) => this.port.postMessage(frame, [frame.buffer]));
    const window = (sampleRate * LEVEL_MS) / 1_000;
    this.#heardLevel = new LevelMeter(window);
    this.#spokenLevel = new LevelMeter(window);
    this.#samplesUntilLevels = window;
    this.port.onmessage = ({ data }: MessageEvent<Int16Array | null>) => {
      if (data === null) this.#isStopped = true;
      else this.#playback.push(data);
    };
  }

  process([microphone]: readonly Float32Array[][], [speaker]: readonly Float32Array[][]): boolean {
    const output = speaker![0]!;
    this.#playback.read(output);
    this.#heardLevel.push(output);
    const input = microphone?.[0];
    if (input) {
      this.#capture.push(input);
      this.#spokenLevel.push(input);
    }
    this.#samplesUntilLevels -= output.length;
    if (this.#samplesUntilLevels <= 0) {
      this.#samplesUntilLevels += (sampleRate * LEVEL_MS) / 1_000;
      this.port.postMessage({ heard: this.#heardLevel.level, spoken: input ? this.#spokenLevel.level : 0 });
    }
    return !this.#isStopped;
  }
}

registerProcessor("ringport-call", CallProcessor);

/** The global scope of an audio worklet, which TypeScript's library for pages does not have. */
declare abstract class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare const sampleRate: number;
declare function registerProcessor(name: string, processor: typeof CallProcessor): void;
