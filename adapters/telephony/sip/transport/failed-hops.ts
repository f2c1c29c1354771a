import type { System } from "../../../../src/ports/system.ts";
import { NewestMap } from "../newest-map.ts";
import { addressAndPort, type Hop } from "./transport.ts";

/** For so long a hop that failed comes after all others, ms. */
const REMEMBER_MS = 30_000;
const MOST_REMEMBERED = 256;

/** The hops that failed lately: refused, unreachable, silent or overloaded. They are tried, but last. */
export class FailedHops {
  readonly #system: System;
  /** Until when a hop counts as failed, the oldest first. */
  readonly #until = new NewestMap<string, number>(MOST_REMEMBERED);

  constructor(system: System) {
    this.#system = system;
  }

  add(hop: Hop): void {
    this.#until.set(keyOf(hop), this.#system.monotonic() + REMEMBER_MS);
  }

  /** The same hops: first those that have not failed, then those that have, each in their order. */
  last(hops: readonly Hop[]): Hop[] {
    const failed = hops.filter((hop) => this.#failed(hop));
    return failed.length === 0 ? [...hops] : [...hops.filter((hop) => !failed.includes(hop)), ...failed];
  }

  #failed(hop: Hop): boolean {
    return (this.#until.get(keyOf(hop)) ?? 0) > this.#system.monotonic();
  }
}

function keyOf(hop: Hop): string {
  return `${hop.kind} ${addressAndPort(hop)}`;
}
