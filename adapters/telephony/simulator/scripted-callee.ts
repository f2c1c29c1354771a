import { msToSamples } from "../../../src/audio/samples/pcm.ts";
import { dtmfTones } from "../../../src/audio/tones/dtmf.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import type { System } from "../../../src/ports/system.ts";
import type { CalleeActions, SimulatedCallee } from "./callee.ts";
import type { CalleeScript, CalleeStep } from "./number-plan.ts";
import type { Voices } from "./voice.ts";

const BEEP_AMPLITUDE = 10_000;
/** Level above which a sample counts as sound. */
const SOUND = 300;
/** Longest silence that counts as a pause within the caller's speech, ms. */
const PAUSE_MS = 500;

/** Options of {@link ScriptedCallee}. */
export interface ScriptedCalleeOptions {
  readonly script: CalleeScript;
  readonly call: CalleeActions;
  readonly voices: Voices;
  readonly sampleRate: number;
  readonly system: System;
  /** Factor for all times in the script. */
  readonly timeScale: number;
}

/**
 * A callee that follows a script. Timers drive the script until the answer, and the frames that the leg reads drive it
 * after that, so the same call always sounds the same.
 */
export class ScriptedCallee implements SimulatedCallee {
  readonly isAttended: boolean = false;
  readonly #options: ScriptedCalleeOptions;
  /** The samples of each sentence, once it is synthesised. */
  readonly #sentences = new Map<CalleeStep, Int16Array>();
  #next = 0;
  #isAnswered = false;
  #isStopped = false;
  #cancelWait: (() => void) | undefined;
  /** The clip that is playing; undefined for silence. */
  #clip: Int16Array | undefined;
  #clipAt = 0;
  /** Number of samples until the current clip or silence ends. */
  #remainingSamples = 0;
  /** True if the caller has spoken since the last step. */
  #hasCallerSpoken = false;
  /** Number of samples of silence since the caller's last sound. */
  #callerSilence = 0;
  /** Number of samples of the caller's speech since the last step, pauses included. */
  #callerSpeech = 0;

  constructor(options: ScriptedCalleeOptions) {
    this.#options = options;
  }

  start(): void {
    const { script, voices, sampleRate } = this.#options;
    for (const step of script.steps)
      if (step.do === "say")
        void voices.speak(step.text, sampleRate).then((samples) => this.#sentences.set(step, samples));
    this.#runUntilAnswer();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelWait?.();
    this.#sentences.clear();
  }

  hear(frame: Int16Array): void {
    const stepType = this.#options.script.steps[this.#next]?.do;
    if (stepType !== "listen" && stepType !== "overhear") return;
    if (stepType === "listen" && this.#remainingSamples > 0) return; // speech that overlaps the callee's words is not a question
    for (const sample of frame) {
      if (Math.abs(sample) > SOUND) {
        this.#hasCallerSpoken = true;
        this.#callerSilence = 0;
      } else this.#callerSilence++;
    }
    if (this.#hasCallerSpoken && this.#callerSilence < this.#pauseSamples) this.#callerSpeech += frame.length;
  }

  read(frame: Int16Array): number {
    let at = 0;
    while (at < frame.length && !this.#isStopped) {
      if (this.#remainingSamples === 0 && !this.#startNext()) break;
      const count = Math.min(frame.length - at, this.#remainingSamples);
      const clip = this.#clip;
      const clipSamples = clip === undefined ? 0 : Math.min(count, clip.length - this.#clipAt);
      for (let i = 0; i < clipSamples; i++) frame[at + i] = clip![this.#clipAt + i]!;
      this.#clipAt += Math.max(0, clipSamples);
      frame.fill(0, at + Math.max(0, clipSamples), at + count);
      at += count;
      this.#remainingSamples -= count;
    }
    frame.fill(0, at);
    return frame.length;
  }

  /** Runs the script up to the next wait or to the answer. */
  #runUntilAnswer(): void {
    const { script, call, system, timeScale } = this.#options;
    while (!this.#isStopped && !this.#isAnswered) {
      const step = script.steps[this.#next++];
      if (step === undefined) return;
      if (step.do === "wait") {
        this.#cancelWait = system.after(step.ms * timeScale, () => this.#runUntilAnswer());
        return;
      }
      if (step.do === "ring") call.ring();
      else if (step.do === "answer") {
        this.#isAnswered = true;
        call.answer(step.audio !== "none");
      } else this.#act(step);
    }
  }

  /** Starts the next step of an answered call; returns false if there is none, or its audio is not ready. */
  #startNext(): boolean {
    const step = this.#options.script.steps[this.#next];
    if (step === undefined) return false;
    if (step.do === "say") {
      const sentence = this.#sentences.get(step);
      if (sentence === undefined) return false; // still being synthesised: silence until then
      this.#play(sentence, step.ms === undefined ? sentence.length : this.#scaled(step.ms));
    } else if (step.do === "listen") {
      const quietSamples = msToSamples(step.quietMs, this.#options.sampleRate);
      if (!this.#hasCallerSpoken || this.#callerSilence < quietSamples) return false;
    } else if (step.do === "overhear") {
      if (this.#callerSpeech < msToSamples(step.spokenMs, this.#options.sampleRate)) return false;
    } else if (step.do === "beep") this.#play(tone(step.hz, step.ms, this.#options.sampleRate, BEEP_AMPLITUDE));
    else if (step.do === "press") this.#play(dtmfTones(step.keys, { sampleRate: this.#options.sampleRate }));
    else if (step.do === "wait") this.#play(undefined, this.#scaled(step.ms));
    this.#next++;
    this.#hasCallerSpoken = false;
    this.#callerSpeech = 0;
    this.#act(step);
    return true;
  }

  get #pauseSamples(): number {
    return msToSamples(PAUSE_MS, this.#options.sampleRate);
  }

  #act(step: CalleeStep): void {
    if (step.do === "end") this.#options.call.end(step.cause, step.detail);
    else if (step.do === "lose_line") this.#options.call.loseLine(step.ms * this.#options.timeScale);
  }

  #play(clip: Int16Array | undefined, samples: number = clip?.length ?? 0): void {
    this.#clip = clip;
    this.#clipAt = 0;
    this.#remainingSamples = samples;
  }

  #scaled(ms: number): number {
    return msToSamples(ms * this.#options.timeScale, this.#options.sampleRate);
  }
}
