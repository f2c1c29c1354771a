import type { System } from "../../../../src/ports/system.ts";
import { parseHostPort } from "../../../sip-stack/message/uri.ts";
import type { SipAccount } from "./sip-account.ts";

/** Maximum number of failed attempts per window: by one user, and by all users for one account. */
const MAX_FAILURES = 5;
const WINDOW_MS = 60_000;
/** Maximum number of concurrent attempts on all lines: each opens sockets. */
const MAX_CONCURRENT = 8;

/** An attempt that has begun. */
export interface AccountAttempt {
  /** Ends the attempt; it no longer counts if the password was right. */
  end(outcome: "accepted" | "rejected"): void;
}

/**
 * Limits how often accounts are tried, so that passwords cannot be guessed through this server: by one user with many
 * instances, or by many users together.
 */
export class AccountAttemptLimiter {
  readonly #system: System;
  /** Times of the attempts in the window, by user and by account; on the monotonic clock, ms. */
  readonly #attempts = new Map<string, number[]>();
  #runningCount = 0;

  constructor(system: System) {
    this.#system = system;
  }

  /** Counts an attempt, or returns the wait until the next one is allowed, ms. */
  begin(userId: string, account: SipAccount): AccountAttempt | { readonly waitMs: number } {
    const now = this.#system.monotonic();
    for (const [key, times] of this.#attempts) if ((times.at(-1) ?? 0) <= now - WINDOW_MS) this.#attempts.delete(key);
    const keys = [`user ${userId}`, accountKey(account)];
    const waitMs = Math.max(...keys.map((key) => this.#waitMs(key, now)));
    if (waitMs > 0) return { waitMs };
    if (this.#runningCount >= MAX_CONCURRENT) return { waitMs: 1_000 };
    for (const key of keys) this.#attempts.set(key, [...this.#recentAttempts(key, now), now]);
    this.#runningCount++;
    return {
      end: (outcome) => {
        this.#runningCount--;
        if (outcome === "accepted") for (const key of keys) this.#forget(key, now);
      },
    };
  }

  #recentAttempts(key: string, now: number): number[] {
    return (this.#attempts.get(key) ?? []).filter((at) => at > now - WINDOW_MS);
  }

  #waitMs(key: string, now: number): number {
    const recentTimes = this.#recentAttempts(key, now);
    return recentTimes.length < MAX_FAILURES ? 0 : (recentTimes[0] ?? now) + WINDOW_MS - now;
  }

  #forget(key: string, at: number): void {
    const times = this.#attempts.get(key) ?? [];
    const index = times.indexOf(at);
    if (index < 0) return;
    if (times.length === 1) this.#attempts.delete(key);
    else this.#attempts.set(key, times.toSpliced(index, 1));
  }
}

/** Key of the account that a password is for: servers have many ports, and few treat user names as case-sensitive. */
function accountKey({ server, user, authUser }: SipAccount): string {
  const host = parseHostPort(server)?.host ?? server;
  return `account ${host.toLowerCase().replace(/\.$/, "")} ${(authUser || user).toLowerCase()}`;
}
