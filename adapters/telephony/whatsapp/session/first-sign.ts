import type { Timers } from "../../../../src/base/timers.ts";
import type { SessionFlow, SessionInput } from "./flow/session-transitions.ts";

/** Waits for the first sign of an attempt to link: a code, or the reason why none arrives. */
export class FirstSign {
  readonly #system: Timers;
  readonly #waiters = new Set<(fault: string | undefined) => void>();

  constructor(system: Timers) {
    this.#system = system;
  }

  /** Reason why no code arrives; undefined if one has arrived, or if there is no sign within `ms`. */
  wait(ms: number): Promise<string | undefined> {
    return new Promise((resolve) => {
      const settle = (fault: string | undefined) => {
        cancel();
        this.#waiters.delete(settle);
        resolve(fault);
      };
      const cancel = this.#system.after(ms, () => settle(undefined));
      this.#waiters.add(settle);
    });
  }

  /** Called after each input of the session. */
  update({ state, codes, reason }: SessionFlow, { type }: SessionInput): void {
    const isPending = state === "linking" && codes === 0 && type !== "failed" && type !== "closed";
    if (isPending) return;
    const hasFailed = state === "idle" || (state === "linking" && codes === 0);
    for (const settle of [...this.#waiters]) settle(hasFailed ? (reason ?? "not linked") : undefined);
  }
}
