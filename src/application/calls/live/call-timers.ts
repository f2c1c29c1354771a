import type { CallSignal, TimerName } from "../../../domain/calls/call-signal.ts";
import type { DialProgress } from "../../../domain/calls/dial-progress.ts";
import type { System } from "../../../ports/system.ts";

/** Figures that a timer reports besides its name. */
export interface CallReadings {
  /** Number of frames received from the callee. */
  inboundFrames(): number;
  /** Progress of the call before an answer; undefined if it is unknown. */
  progress(): DialProgress | undefined;
}

/**
 * The timers of one live call: each posts a signal when it fires, which states whether inbound audio has arrived since.
 */
export class CallTimers {
  readonly #system: System;
  readonly #readings: CallReadings;
  readonly #post: (signal: CallSignal) => void;
  readonly #cancels = new Map<TimerName, () => void>();

  constructor(system: System, readings: CallReadings, post: (signal: CallSignal) => void) {
    this.#system = system;
    this.#readings = readings;
    this.#post = post;
  }

  /** Sets a timer, replacing the current timer of that name. */
  set(name: TimerName, ms: number): void {
    this.#cancels.get(name)?.();
    const readings = this.#readings;
    const framesBefore = readings.inboundFrames();
    const fire = () => {
      const inboundSince = readings.inboundFrames() > framesBefore;
      this.#post({ type: "timer", name, inboundSince, progress: name === "ring" ? readings.progress() : undefined });
    };
    this.#cancels.set(name, this.#system.after(ms, fire));
  }

  cancel(name: TimerName): void {
    this.#cancels.get(name)?.();
    this.#cancels.delete(name);
  }

  cancelAll(): void {
    for (const cancel of this.#cancels.values()) cancel();
    this.#cancels.clear();
  }
}
