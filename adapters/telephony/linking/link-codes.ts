import type { System } from "../../../src/ports/system.ts";
import type { LinkAttempt, LinkTarget } from "./link-attempt.ts";

/** A new code appears so often. */
export const ROTATE_MS = 20_000;
/** A code is accepted so long after its successor appeared. */
const GRACE_MS = 20_000;
/** Old codes are remembered, to distinguish them from unknown ones; the oldest are forgotten. */
const MAX_REMEMBERED = 10_000;
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** One linking code. */
export interface IssuedCode<Target extends LinkTarget> {
  readonly attempt: LinkAttempt<Target>;
  /** On the monotonic clock, ms. */
  acceptedUntil: number;
  /** It has linked a phone, or the attempt it belongs to is over. */
  used: boolean;
}

/** How codes are made. */
export interface LinkCodesOptions {
  readonly system: System;
  /** What stands in front of the code in the address of its page: `/simulator/link`. */
  readonly path: string;
  /** Whoever has opened a code's page may take so long to finish there, ms. */
  readonly reserveMs: number;
  /** Factor for all times of codes. Default: 1. */
  readonly timeScale?: number;
}

/** All linking codes of one adapter, whichever line they belong to. */
export class LinkCodes<Target extends LinkTarget> {
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

  /** A new code for this attempt: 80 random bits. */
  issue(attempt: LinkAttempt<Target>): string {
    const bytes = new Uint8Array(16);
    this.system.random(bytes);
    const code = Array.from(bytes, (byte) => ALPHABET[byte & 31]).join("");
    const acceptedUntil = this.system.monotonic() + (ROTATE_MS + GRACE_MS) * this.timeScale;
    this.#codes.set(code, { attempt, acceptedUntil, used: false });
    for (const oldest of this.#codes.keys()) {
      if (this.#codes.size <= MAX_REMEMBERED) break;
      this.#codes.delete(oldest);
    }
    return code;
  }

  /** The code, however old; undefined when there was none like it. */
  find(code: string): IssuedCode<Target> | undefined {
    return this.#codes.get(code);
  }

  /** Whether the code can be used now. */
  accepts(code: IssuedCode<Target>): boolean {
    return !code.used && this.system.monotonic() <= code.acceptedUntil;
  }

  /** Somebody is looking at the code's page: it stays for a while. */
  reserve(code: IssuedCode<Target>): void {
    code.acceptedUntil = Math.max(code.acceptedUntil, this.system.monotonic() + this.#reserveMs * this.timeScale);
  }

  /** No code of this attempt is good any more. */
  expire(attempt: LinkAttempt<Target>): void {
    for (const code of this.#codes.values()) if (code.attempt === attempt) code.used = true;
  }
}
