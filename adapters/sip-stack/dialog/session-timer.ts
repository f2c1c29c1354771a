import type { System } from "../ports.ts";
import type { SessionTerms } from "./session-terms.ts";

/** The shortest interval that we use, s: protects a call from an absurd interval of the peer. */
const SHORTEST_S = 10;

/** The timer of a session (RFC 4028 section 10): reports when to refresh it, and when it has expired. */
export class SessionTimer {
  readonly #system: System;
  readonly #refresh: (terms: SessionTerms) => void;
  readonly #expire: () => void;
  #terms: SessionTerms | undefined;
  #cancelRefresh: () => void = () => {};
  #cancelExpiry: () => void = () => {};

  constructor(system: System, refresh: (terms: SessionTerms) => void, expire: () => void) {
    this.#system = system;
    this.#refresh = refresh;
    this.#expire = expire;
  }

  /** The latest terms. */
  get terms(): SessionTerms | undefined {
    return this.#terms;
  }

  /** Restarts the timer with these terms; undefined: the session never expires. */
  agree(terms: SessionTerms | undefined): void {
    this.stop();
    this.#terms = terms;
    if (terms === undefined) return;
    const intervalS = Math.max(SHORTEST_S, terms.intervalS);
    if (terms.ours) this.refreshIn((intervalS * 1000) / 2);
    this.#cancelExpiry = this.#system.after((intervalS - Math.min(32, intervalS / 3)) * 1000, this.#expire);
  }

  /** Requests a refresh in `ms`; the expiry does not change. */
  refreshIn(ms: number): void {
    const terms = this.#terms;
    if (terms === undefined) return;
    this.#cancelRefresh();
    this.#cancelRefresh = this.#system.after(ms, () => this.#refresh(terms));
  }

  stop(): void {
    this.#cancelRefresh();
    this.#cancelExpiry();
  }
}
