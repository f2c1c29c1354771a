import type { System } from "../../../../src/ports/system.ts";
import type { SessionTerms } from "./session-terms.ts";

/** The shortest interval that we keep to, s: whatever a far side says, no call lives on refreshing. */
const SHORTEST_S = 10;

/** Tells when a session is to be refreshed, and when it has not been for too long (RFC 4028 section 10). */
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

  /** What was agreed on last. */
  get terms(): SessionTerms | undefined {
    return this.#terms;
  }

  /** The session is fresh from now on, on these terms; undefined: it never expires. */
  agree(terms: SessionTerms | undefined): void {
    this.stop();
    this.#terms = terms;
    if (terms === undefined) return;
    const intervalS = Math.max(SHORTEST_S, terms.intervalS);
    if (terms.ours) this.refreshIn((intervalS * 1000) / 2);
    this.#cancelExpiry = this.#system.after((intervalS - Math.min(32, intervalS / 3)) * 1000, this.#expire);
  }

  /** Asks for a refresh after so many ms; the expiry stays where it was. */
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
