import type { System } from "../../../src/ports/system.ts";
import type { LinkAttempt, LinkTarget } from "./link-attempt.ts";

/** Interval between two codes, ms. */
export const ROTATE_MS = 20_000;
/** Time for which a code is accepted after its successor has appeared, ms. */
const GRACE_MS = 20_000;
/** Maximum number of codes kept, so that a page can tell an expired code from an unknown one. */
const MAX_CODES = 10_000;
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** One linking code. */
export interface IssuedCode<Target extends LinkTarget> {
  readonly attempt: LinkAttempt<Target>;
  /** Time until which the code is accepted, by the monotonic clock, ms. */
  acceptedUntil: number;
  /** True once it has linked a phone, or its attempt has stopped. */
  isUsed: boolean;
}

/** Options of {@link PendingLinkCodes}. */
export interface LinkCodesOptions {
  readonly system: System;
  /** Path before the code in the address of its page: `/simulator/link`. */
  readonly path: string;
  /** Time for which a code stays valid after its page has been opened, ms. */
  readonly reserveMs: number;
  /** Factor for all times. Default: 1. */
  readonly timeScale?: number;
}

/** The linking codes of all of an adapter's lines. */
export class PendingLinkCodes<Target extends LinkTarget> {
  readonly system: System;
  readonly path: string;
  readonly timeScale: number;
  readonly #reserveMs: number;
  readonly #codes = new Map<string, IssuedCode<Target>>();

  constructor({ system, path, reserveMs, timeScale = 1 }: LinkCodesOptions) {
    this.system = system;
    this.path = path;
    this.timeScale = timeScale;
    this.#reserveMs = reserveMs;
  }

  /** Creates a code for this attempt: 80 random bits. */
  issue(attempt: LinkAttempt<Target>): string {
    const bytes = new Uint8Array(16);
    this.system.random(bytes);
    const code = Array.from(bytes, (byte) => ALPHABET[byte & 31]).join("");
    const acceptedUntil = this.system.monotonic() + (ROTATE_MS + GRACE_MS) * this.timeScale;
    this.#codes.set(code, { attempt, acceptedUntil, isUsed: false });
    for (const oldest of this.#codes.keys()) {
      if (this.#codes.size <= MAX_CODES) break;
      this.#codes.delete(oldest);
    }
    return code;
  }

  /** The code, even if it has expired; undefined if it is unknown. */
  find(code: string): IssuedCode<Target> | undefined {
    return this.#codes.get(code);
  }

  /** True if the code can be used now. */
  accepts(code: IssuedCode<Target>): boolean {
    return !code.isUsed && this.system.monotonic() <= code.acceptedUntil;
  }

  /** Keeps the code valid for a while, because its page has been opened. */
  reserve(code: IssuedCode<Target>): void {
    code.acceptedUntil = Math.max(code.acceptedUntil, this.system.monotonic() + this.#reserveMs * this.timeScale);
  }

  /** Invalidates all codes of this attempt. */
  expire(attempt: LinkAttempt<Target>): void {
    for (const code of this.#codes.values()) if (code.attempt === attempt) code.isUsed = true;
  }
}
