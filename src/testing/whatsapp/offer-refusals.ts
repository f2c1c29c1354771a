import type { System } from "../../ports/system.ts";
import { digitsOf } from "./numbers.ts";

/** An error with which the network refuses offers before they reach a phone. */
export interface FakeOfferRefusal {
  /** Code of the `<ack>`: 429 (too many calls), 439 (an outdated client), 463 (no calls to strangers), … */
  readonly error: number;
  /** Number whose offers are refused. Default: those of every client. */
  readonly from?: string;
  /** Callees of the refused offers; a stranger is one whose token the offer does not carry. Default: `everyone`. */
  readonly to?: "everyone" | "strangers";
  /** Duration, ms. Default: until offers are accepted again. */
  readonly forMs?: number;
}

/** A client's result about the time-lock of its number: `client.message.getReachoutTimelock()`. */
export interface FakeReachoutTimelock {
  readonly isActive: boolean;
  readonly enforcementType: string | null;
  /** Seconds since 1970-01-01 UTC. */
  readonly enforcementEndsAt: number | null;
}

interface Rule extends FakeOfferRefusal {
  readonly until: number;
}

/** The error of a number that may not call strangers for a while. */
export const TIMELOCK = 463;

/** The offer refusals that are in force. */
export class OfferRefusals {
  readonly #system: System;
  readonly #onChange: (refusal: FakeOfferRefusal) => void;
  #rules: readonly Rule[] = [];

  /** @param onChange called at the start and the end of each refusal */
  constructor(system: System, onChange: (refusal: FakeOfferRefusal) => void) {
    this.#system = system;
    this.#onChange = onChange;
  }

  add(refusal: FakeOfferRefusal): void {
    const { forMs = Infinity } = refusal;
    const rule = { ...refusal, until: this.#system.monotonic() + forMs };
    this.#rules = [...this.#rules, rule];
    this.#onChange(rule);
    if (forMs !== Infinity) this.#system.after(forMs, () => this.#remove([rule]));
  }

  clear(): void {
    this.#remove(this.#rules);
  }

  /** The error for an offer; undefined if it is accepted. @param from digits of the caller */
  errorFor(from: string, isStranger: boolean): number | undefined {
    const rule = this.#rulesFor(from).find(({ to = "everyone" }) => to === "everyone" || isStranger);
    return rule?.error;
  }

  /** The time-lock of a number. @param from its digits */
  timelockOf(from: string): FakeReachoutTimelock {
    const rule = this.#rulesFor(from).find(({ error }) => error === TIMELOCK);
    if (rule === undefined) return { isActive: false, enforcementType: null, enforcementEndsAt: null };
    const remainingMs = rule.until - this.#system.monotonic();
    const endsAt = remainingMs === Infinity ? null : Math.ceil((this.#system.now() + remainingMs) / 1_000);
    return { isActive: true, enforcementType: "DEFAULT", enforcementEndsAt: endsAt };
  }

  #rulesFor(from: string): readonly Rule[] {
    return this.#rules.filter((rule) => rule.from === undefined || digitsOf(rule.from) === from);
  }

  #remove(rules: readonly Rule[]): void {
    const removedRules = rules.filter((rule) => this.#rules.includes(rule));
    this.#rules = this.#rules.filter((rule) => !removedRules.includes(rule));
    for (const rule of removedRules) this.#onChange(rule);
  }
}
