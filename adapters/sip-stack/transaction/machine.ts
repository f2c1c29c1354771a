import type { System } from "../ports.ts";

/** The next state for an input, and the actions to perform, in this order. */
export interface Move<State extends string, Action extends string> {
  readonly to: State;
  readonly do: readonly Action[];
}

/** A state machine, to be compared with the figures of RFC 3261 section 17. Inputs without an entry are ignored. */
export type Table<State extends string, Input extends string, Action extends string> = Readonly<
  Record<State, Readonly<Partial<Record<Input, Move<State, Action>>>>>
>;

/** Performs an action. */
export type Perform<Action extends string> = (action: Action) => void;

/** Options of {@link Machine}. */
export interface MachineOptions<State extends string, Input extends string, Action extends string> {
  readonly table: Table<State, Input, Action>;
  readonly start: State;
  readonly system: System;
  readonly perform: Perform<Action>;
  /** Called once, when the state is `terminated`. */
  readonly terminated: () => void;
}

/**
 * Runs a table. Timers are inputs like any other (`timer A`); entering a state without an entry for a timer stops it.
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

  /** Schedules this input in `ms`; 0 is at once. */
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

  /** Stops all timers, and ignores further inputs. */
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
