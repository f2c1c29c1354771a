import type { LinkCode } from "../../../src/ports/telephony.ts";
import { type LinkCodes, ROTATE_MS } from "./link-codes.ts";

/** Without anybody asking for a code, no new one appears after this. */
const IDLE_MS = 600_000;

/** What is linked by a code. */
export interface LinkTarget {
  /** The name of what is linked, for people. */
  readonly name: string;
  readonly instanceId: string;
  /** Where people reach this server, without a trailing slash. */
  publicUrl(): string;
  /** A new code is valid. */
  code(code: LinkCode): void;
}

/** The rotating codes of one line that wants to be linked. */
export class LinkAttempt<Target extends LinkTarget> {
  readonly target: Target;
  readonly #codes: LinkCodes<Target>;
  #sequence = 0;
  #askedAt = 0;
  #running = false;
  #cancelTimer: (() => void) | undefined;

  constructor(codes: LinkCodes<Target>, target: Target) {
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
    const { system, timeScale, path } = this.#codes;
    if (system.monotonic() - this.#askedAt >= IDLE_MS * timeScale) {
      this.#running = false;
      return;
    }
    const code = this.#codes.issue(this);
    const lifeMs = ROTATE_MS * timeScale;
    this.#cancelTimer = system.after(lifeMs, () => this.#rotate());
    this.target.code({
      payload: `${this.target.publicUrl()}${path}/${code}`,
      expiresAt: Math.round(system.now() + lifeMs),
      sequence: ++this.#sequence,
    });
  }
}
