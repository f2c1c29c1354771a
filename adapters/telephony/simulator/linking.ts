import type { System } from "../../../src/ports/system.ts";
import type { LinkCode } from "../../../src/ports/telephony.ts";

const ROTATE_MS = 20_000;
/** A code is accepted so long after its successor appeared. */
const GRACE_MS = 20_000;
/** Whoever has opened a code's page may take so long to press the button. */
const RESERVE_MS = 120_000;
/** Without anybody asking for a code, no new one appears after this. */
const IDLE_MS = 600_000;
/** Old codes are remembered, so that they can be told from unknown ones; the oldest are forgotten. */
const MAX_REMEMBERED = 10_000;
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** One linking code. */
export interface IssuedCode {
  readonly attempt: LinkAttempt;
  /** On the monotonic clock, ms. */
  acceptedUntil: number;
  /** It has linked a phone, or the attempt it belongs to is over. */
  used: boolean;
}

/** Who is linked by a code. */
export interface LinkTarget {
  /** The name of what is linked, for people. */
  readonly name: string;
  readonly instanceId: string;
  /**
   * Links: resolves with the phone number, or with undefined when the line wants no linking any more.
   * Rejects when the credentials could not be stored.
   */
  accept(): Promise<string | undefined>;
  /** Where people reach this server, without a trailing slash. */
  publicUrl(): string;
  /** A new code is valid. */
  code(code: LinkCode): void;
}

/** All linking codes of one adapter, whichever line they belong to. */
export class LinkCodes {
  readonly system: System;
  /** Factor for all times of codes. */
  readonly timeScale: number;
  readonly #codes = new Map<string, IssuedCode>();

  constructor(system: System, timeScale: number) {
    this.system = system;
    this.timeScale = timeScale;
  }

  /** A new code for this attempt: 80 random bits. */
  issue(attempt: LinkAttempt): string {
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
  find(code: string): IssuedCode | undefined {
    return this.#codes.get(code);
  }

  /** Whether the code can be used now. */
  accepts(code: IssuedCode): boolean {
    return !code.used && this.system.monotonic() <= code.acceptedUntil;
  }

  /** Somebody is looking at the code's page: it stays for 2 minutes. */
  reserve(code: IssuedCode): void {
    code.acceptedUntil = Math.max(code.acceptedUntil, this.system.monotonic() + RESERVE_MS * this.timeScale);
  }

  /** No code of this attempt is good any more. */
  expire(attempt: LinkAttempt): void {
    for (const code of this.#codes.values()) if (code.attempt === attempt) code.used = true;
  }
}

/** The rotating codes of one line that wants to be linked. */
export class LinkAttempt {
  readonly target: LinkTarget;
  readonly #codes: LinkCodes;
  #sequence = 0;
  #askedAt = 0;
  #running = false;
  #cancelTimer: (() => void) | undefined;

  constructor(codes: LinkCodes, target: LinkTarget) {
    this.#codes = codes;
    this.target = target;
  }

  /** Somebody asks for a code: rotation starts, or goes on. */
  ask(): void {
    this.#askedAt = this.#codes.system.monotonic();
    if (this.#running) return;
    this.#running = true;
    this.#rotate();
  }

  /** Stops; no code is accepted any more. Twice is fine. */
  stop(): void {
    this.#cancelTimer?.();
    this.#running = false;
    this.#codes.expire(this);
  }

  #rotate(): void {
    const { system, timeScale } = this.#codes;
    if (system.monotonic() - this.#askedAt >= IDLE_MS * timeScale) {
      this.#running = false;
      return;
    }
    const code = this.#codes.issue(this);
    const lifeMs = ROTATE_MS * timeScale;
    this.#cancelTimer = system.after(lifeMs, () => this.#rotate());
    this.target.code({
      payload: `${this.target.publicUrl()}/simulator/link/${code}`,
      expiresAt: Math.round(system.now() + lifeMs),
      sequence: ++this.#sequence,
    });
  }
}
