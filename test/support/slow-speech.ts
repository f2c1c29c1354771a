import { tone } from "../../src/audio/tones/tone.ts";
import type { PcmChunk } from "../../src/ports/media.ts";
import type { Speech, Voice } from "../../src/ports/speech.ts";
import type { System } from "../../src/ports/system.ts";

const VOICE: Voice = { id: "en-US-1", language: "en-US", engine: "slow", name: "slow", quality: "robotic" };

/** Length of audio per character, ms. */
export const SPOKEN_MS = 65;
/** Processor time for one character, ms: 4,060 characters take 4.9 s, as with the embedded engines. */
const WORK_MS = 1.2;

/** An engine that speaks two texts at a time, in order of arrival, sentence by sentence, at its own pace on the given clock. */
export class SlowSpeech implements Speech {
  readonly atOnce: Readonly<Record<string, number>> = { slow: 2 };
  /** Every requested text, in order. */
  readonly receivedTexts: string[] = [];
  /** Number of texts being spoken or waiting. */
  busyCount = 0;
  /** Maximum of {@link busyCount} so far. */
  maxBusyCount = 0;
  readonly #system: System;
  readonly #workers: Promise<void>[] = [Promise.resolve(), Promise.resolve()];

  constructor(system: System) {
    this.#system = system;
  }

  async voices(): Promise<readonly Voice[]> {
    return [VOICE];
  }

  async voice(): Promise<Voice> {
    return VOICE;
  }

  async *speak(text: string, _voiceId: string, signal: AbortSignal): AsyncGenerator<PcmChunk> {
    this.receivedTexts.push(text);
    this.busyCount++;
    this.maxBusyCount = Math.max(this.maxBusyCount, this.busyCount);
    let releaseWorker = () => {};
    const worker = this.#workers.shift();
    this.#workers.push(new Promise((resolve) => (releaseWorker = resolve)));
    try {
      await worker;
      for (const sentence of text.match(/[^.]+\.?\s*/g) ?? []) {
        signal.throwIfAborted();
        await new Promise<void>((resolve) => this.#system.after(sentence.length * WORK_MS, resolve));
        yield { sampleRate: 8_000, samples: tone(440, sentence.length * SPOKEN_MS, 8_000, 8_000) };
      }
    } finally {
      this.busyCount--;
      releaseWorker();
    }
  }

  async close(): Promise<void> {}
}
