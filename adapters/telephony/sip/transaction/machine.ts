import type { System } from "../../../../src/ports/system.ts";

/** What a state does with an input: where it leads, and what is done then, in this order. */
export interface Move<State extends string, Action extends string> {
  readonly to: State;
  readonly do: readonly Action[];
}

/** A state machine to be read beside the figures of RFC 3261 section 17. What has no entry is ignored. */
export type Table<State extends string, Input extends string, Action extends string> = Readonly<
  Record<State, Readonly<Partial<Record<Input, Move<State, Action>>>>>
>;

/** Carries the actions out. */
export type Perform<Action extends string> = (action: Action) => void;

/** What a machine needs. */
export interface MachineOptions<State extends string, Input extends string, Action extends string> {
  readonly table: Table<State, Input, Action>;
  readonly start: State;
  readonly system: System;
  readonly perform: Perform<Action>;
  /** It is `terminated`; told once. */
  readonly terminated: () => void;
}

/**
 * Walks a table. Timers are inputs like any other (`timer A`); one that runs is stopped when a state is entered that has
 * no entry for it.
 */
export class Machine<State extends string, Input extends string, Action extends string> {
  readonly #options: MachineOptions<State, Input, Action>;
  readonly #timers = new Map<Input, () => void>();
  #state: State;
  #stopped = false;

  constructor(options: MachineOptions<State, Input, Action>) {
    this.#options = options;
    this.#state = options.start;
  }

  get state(): State {
    return this.#state;
  }

  input(input: Input): void {
    const move = this.#stopped ? undefined : this.#options.table[this.#state][input];
    if (move === undefined) return;
    if (move.to !== this.#state) this.#enter(move.to);
    for (const action of move.do) this.#options.perform(action);
    if (this.#state !== "terminated" || this.#stopped) return;
    this.stop();
    this.#options.terminated();
  }

  /** Has this input come after `ms`; at once where that is 0. */
  set(timer: Input, ms: number): void {
    this.#timers.get(timer)?.();
    this.#timers.delete(timer);
    const due = (): void => {
      this.#timers.delete(timer);
      this.input(timer);
    };
    if (ms > 0) this.#timers.set(timer, this.#options.system.after(ms, due));
    else due();
  }

  /** Stops all timers; nothing happens any more. */
  stop(): void {
    this.#stopped = true;
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  #enter(state: State): void {
    this.#state = state;
    for (const [timer, cancel] of this.#timers)
      if (this.#options.table[state][timer] === undefined) {
        cancel();
        this.#timers.delete(timer);
      }
  }
}
