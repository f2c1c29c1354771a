import { dtmfTones } from "../../../src/audio/dtmf.ts";
import { msToSamples } from "../../../src/audio/pcm.ts";
import { tone } from "../../../src/audio/tone.ts";
import type { System } from "../../../src/ports/system.ts";
import type { ReleaseCause } from "../../../src/ports/telephony.ts";
import type { FarEndScript, FarEndStep } from "./number-plan.ts";
import type { Voices } from "./voice.ts";

const BEEP_AMPLITUDE = 10_000;

/** What a far end can do to the call it is in. */
export interface FarEndCall {
  ring(): void;
  /** @param audio whether the far end will send frames */
  answer(audio: boolean): void;
  end(cause: ReleaseCause, detail: string): void;
  /** The caller's line is gone for so many ms. */
  loseLine(ms: number): void;
}

/** What a far end needs. */
export interface FarEndOptions {
  readonly script: FarEndScript;
  readonly call: FarEndCall;
  readonly voices: Voices;
  readonly sampleRate: number;
  readonly system: System;
  /** Factor for all times of the script. */
  readonly timeScale: number;
}

/**
 * Plays the part of the callee. Up to the answer its script runs on timers; from then on on the audio it is asked for,
 * so that the same call always sounds the same.
 */
export class FarEnd {
  readonly #options: FarEndOptions;
  readonly #spoken = new Map<FarEndStep, Int16Array>();
  #next = 0;
  #answered = false;
  #stopped = false;
  #cancelWait: (() => void) | undefined;
  /** What is being played, and how much of it; no clip is silence. */
  #clip: Int16Array | undefined;
  #clipAt = 0;
  #left = 0;

  constructor(options: FarEndOptions) {
    this.#options = options;
  }

  /** The call arrives. */
  start(): void {
    const { script, voices, sampleRate } = this.#options;
    for (const step of script.steps)
      if (step.do === "say")
        void voices.speak(step.text, sampleRate).then((samples) => this.#spoken.set(step, samples));
    this.#untilAnswer();
  }

  /** The call is over, or cut off: nothing more happens. Twice is fine. */
  stop(): void {
    this.#stopped = true;
    this.#cancelWait?.();
    this.#spoken.clear();
  }

  /** Fills the whole frame with the far end's next audio. */
  speak(frame: Int16Array): void {
    let at = 0;
    while (at < frame.length && !this.#stopped) {
      if (this.#left === 0 && !this.#sayNext()) break;
      const take = Math.min(frame.length - at, this.#left);
      const clip = this.#clip;
      const fromClip = clip === undefined ? 0 : Math.min(take, clip.length - this.#clipAt);
      for (let i = 0; i < fromClip; i++) frame[at + i] = clip![this.#clipAt + i]!;
      this.#clipAt += Math.max(0, fromClip);
      frame.fill(0, at + Math.max(0, fromClip), at + take);
      at += take;
      this.#left -= take;
    }
    frame.fill(0, at);
  }

  /** Works the script off up to the next wait, or to the answer. */
  #untilAnswer(): void {
    const { script, call, system, timeScale } = this.#options;
    while (!this.#stopped && !this.#answered) {
      const step = script.steps[this.#next++];
      if (step === undefined) return;
      if (step.do === "wait") {
        this.#cancelWait = system.after(step.ms * timeScale, () => this.#untilAnswer());
        return;
      }
      if (step.do === "ring") call.ring();
      else if (step.do === "answer") {
        this.#answered = true;
        call.answer(step.audio !== "none");
      } else this.#act(step);
    }
  }

  /** Takes the next step of an answered call. False when there is nothing to be heard from it. */
  #sayNext(): boolean {
    const step = this.#options.script.steps[this.#next];
    if (step === undefined) return false;
    if (step.do === "say") {
      const spoken = this.#spoken.get(step);
      if (spoken === undefined) return false; // still being synthesised: silence until it is there
      this.#play(spoken, step.ms === undefined ? spoken.length : this.#scaled(step.ms));
    } else if (step.do === "beep") this.#play(tone(step.hz, step.ms, this.#options.sampleRate, BEEP_AMPLITUDE));
    else if (step.do === "press") this.#play(dtmfTones(step.keys, { sampleRate: this.#options.sampleRate }));
    else if (step.do === "wait") this.#play(undefined, this.#scaled(step.ms));
    this.#next++;
    this.#act(step);
    return true;
  }

  #act(step: FarEndStep): void {
    if (step.do === "end") this.#options.call.end(step.cause, step.detail);
    else if (step.do === "lose_line") this.#options.call.loseLine(step.ms * this.#options.timeScale);
  }

  #play(clip: Int16Array | undefined, samples: number = clip?.length ?? 0): void {
    this.#clip = clip;
    this.#clipAt = 0;
    this.#left = samples;
  }

  #scaled(ms: number): number {
    return msToSamples(ms * this.#options.timeScale, this.#options.sampleRate);
  }
}
