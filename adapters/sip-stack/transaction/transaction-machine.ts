import type { System } from "../ports.ts";

/** T1, T2 and T4, from which all SIP timers are derived (RFC 3261 section 17.1.1.1), ms. */
export interface SipTimers {
  /** The estimate of the round-trip time: the wait before the first retransmission. Default: 500. */
  readonly t1Ms: number;
  /** Maximum pause between two retransmissions. Default: 4000. */
  readonly t2Ms: number;
  /** Time for which a message may stay in the network. Default: 5000. */
  readonly t4Ms: number;
  /** Time to wait for a silent hop before the next one is tried. Default: 8 * T1. */
  readonly nextHopMs: number;
}

/** The RFC's timers, with a test's replacements. */
export function sipTimers(timers: Partial<SipTimers> = {}): SipTimers {
  const t1Ms = timers.t1Ms ?? 500;
  return {
    t1Ms,
    t2Ms: timers.t2Ms ?? 4000,
    t4Ms: timers.t4Ms ?? 5000,
    nextHopMs: timers.nextHopMs ?? 8 * t1Ms,
  };
}

/** Duration of timers B, F, H, J, L and M, ms. */
export function giveUpMs({ t1Ms }: SipTimers): number {
  return 64 * t1Ms;
}

/** The next state for an input, and the actions to perform, in this order. */
interface Move<State extends string, Action extends string> {
  readonly to: State;
  readonly do: readonly Action[];
}

/** A state machine, to be compared with the figures of RFC 3261 section 17. Inputs without an entry are ignored. */
export type TransactionTable<State extends string, Input extends string, Action extends string> = Readonly<
  Record<State, Readonly<Partial<Record<Input, Move<State, Action>>>>>
>;

/**
 * A state machine that runs a table. Timers are inputs like any other (`timer A`); entering a state without an entry
 * for a timer stops it.
 */
export abstract class Machine<State extends string, Input extends string, Action extends string> {
  readonly #table: TransactionTable<State, Input, Action>;
  readonly #system: System;
  readonly #timers = new Map<Input, () => void>();
  #state: State;
  #isStopped = false;

  constructor(table: TransactionTable<State, Input, Action>, start: State, system: System) {
    this.#table = table;
    this.#state = start;
    this.#system = system;
  }

  /** Performs an action from the table. */
  protected abstract perform(action: Action): void;

  /** Called once, when the state is `terminated`. */
  protected abstract terminated(): void;

  get state(): State {
    return this.#state;
  }

  protected input(input: Input): void {
    const move = this.#isStopped ? undefined : this.#table[this.#state][input];
    if (move === undefined) return;
    if (move.to !== this.#state) this.#enter(move.to);
    for (const action of move.do) this.perform(action);
    if (this.#state !== "terminated" || this.#isStopped) return;
    this.stop();
    this.terminated();
  }

  /** Schedules this input in `ms`; 0 means immediately. */
  protected set(timer: Input, ms: number): void {
    this.#timers.get(timer)?.();
    this.#timers.delete(timer);
    const fire = (): void => {
      this.#timers.delete(timer);
      this.input(timer);
    };
    if (ms > 0) this.#timers.set(timer, this.#system.after(ms, fire));
    else fire();
  }

  /** Stops all timers, and ignores further inputs. */
  stop(): void {
    this.#isStopped = true;
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  #enter(state: State): void {
    this.#state = state;
    for (const [timer, cancel] of this.#timers)
      if (this.#table[state][timer] === undefined) {
        cancel();
        this.#timers.delete(timer);
      }
  }
}
