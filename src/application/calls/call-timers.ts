import type { CallSignal, TimerName } from "../../domain/call-signal.ts";
import type { System } from "../../ports/system.ts";

/** The timers of one live call: each of them posts a signal when it fires, with whether inbound audio has come since. */
export class CallTimers {
  readonly #system: System;
  readonly #inboundFrames: () => number;
  readonly #post: (signal: CallSignal) => void;
  readonly #cancels = new Map<TimerName, () => void>();

  constructor(system: System, inboundFrames: () => number, post: (signal: CallSignal) => void) {
    this.#system = system;
    this.#inboundFrames = inboundFrames;
    this.#post = post;
  }

  /** Sets a timer anew. */
  set(name: TimerName, ms: number): void {
    this.#cancels.get(name)?.();
    const before = this.#inboundFrames();
    const fire = () => this.#post({ type: "timer", name, inboundSince: this.#inboundFrames() > before });
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
