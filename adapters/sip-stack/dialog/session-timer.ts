import { parseSessionExpires, writeSessionExpires } from "../message/header-values.ts";
import { optionTags, type SipHeaders } from "../message/headers.ts";
import type { System } from "../ports.ts";
import type { HeaderField } from "./user-agent-options.ts";

/** The session interval that we request, s (RFC 4028 section 4.2). */
export const SESSION_EXPIRES_S = 1800;

/** The shortest interval that we accept, s (RFC 4028 section 4.3). */
export const MIN_SESSION_S = 90;

/** The agreed interval and refresher: the session expires unless it is refreshed. */
export interface SessionTerms {
  readonly intervalS: number;
  /** True if we are the refresher. */
  readonly isRefresher: boolean;
}

/** The terms in the 2xx to our request; without a refresher parameter we refresh (RFC 4028 section 7.2). */
export function termsOfAnswer(headers: SipHeaders): SessionTerms | undefined {
  const terms = parseSessionExpires(headers.get("Session-Expires"));
  return terms && { intervalS: terms.seconds, isRefresher: terms.refresher !== "uas" };
}

/**
 * The terms in a request from the peer, and the fields of our 2xx (RFC 4028 section 9): the peer refreshes if it chooses
 * to, otherwise we do.
 */
export function termsOfRequest(headers: SipHeaders): { terms: SessionTerms; fields: HeaderField[] } | undefined {
  const request = parseSessionExpires(headers.get("Session-Expires"));
  if (request === undefined) return undefined;
  const supportsTimers = optionTags(headers, "Supported").includes("timer");
  const isRefresher = !(supportsTimers && request.refresher === "uac");
  const fields: HeaderField[] = [
    ["Session-Expires", writeSessionExpires({ ...request, refresher: isRefresher ? "uas" : "uac" })],
  ];
  if (supportsTimers) fields.push(["Require", "timer"]);
  return { terms: { intervalS: request.seconds, isRefresher }, fields };
}

/** The shortest interval that we use, s: protects a call from an absurd interval sent by the peer. */
const MIN_S = 10;

/** The timer of a session (RFC 4028 section 10): reports when a refresh is due, and when the session has expired. */
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

  /** Restarts the timer with these terms; if undefined, the session never expires. */
  restart(terms: SessionTerms | undefined): void {
    this.stop();
    this.#terms = terms;
    if (terms === undefined) return;
    const intervalS = Math.max(MIN_S, terms.intervalS);
    if (terms.isRefresher) this.refreshIn((intervalS * 1000) / 2);
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
