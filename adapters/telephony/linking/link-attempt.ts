import type { InstanceRef, LineHost } from "../../../src/ports/telephony.ts";
import { type PendingLinkCodes, ROTATE_MS } from "./pending-link-codes.ts";

/** Time for which codes rotate after the last request for one, ms. */
const IDLE_MS = 600_000;

/** The line that a code links. */
export interface LinkTarget {
  readonly instance: InstanceRef;
  /** Receives each new code. */
  readonly host: Pick<LineHost, "publicUrl" | "code">;
}

/** The rotating codes of one line that has not been linked yet. */
export class LinkAttempt<Target extends LinkTarget> {
  readonly target: Target;
  readonly #codes: PendingLinkCodes<Target>;
  #sequence = 0;
  #requestedAt = 0;
  #isRunning = false;
  #cancelTimer: (() => void) | undefined;

  constructor(codes: PendingLinkCodes<Target>, target: Target) {
    this.#codes = codes;
    this.target = target;
  }

  /** Starts the rotation of codes, or keeps it running. */
  requestCode(): void {
    this.#requestedAt = this.#codes.system.monotonic();
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#rotate();
  }

  /** Stops the rotation; its codes are no longer accepted. Idempotent. */
  stop(): void {
    this.#cancelTimer?.();
    this.#isRunning = false;
    this.#codes.expire(this);
  }

  #rotate(): void {
    const { system, timeScale, path } = this.#codes;
    if (system.monotonic() - this.#requestedAt >= IDLE_MS * timeScale) {
      this.#isRunning = false;
      return;
    }
    const code = this.#codes.issue(this);
    const lifetimeMs = ROTATE_MS * timeScale;
    this.#cancelTimer = system.after(lifetimeMs, () => this.#rotate());
    const { host } = this.target;
    host.code({
      payload: `${host.publicUrl()}${path}/${code}`,
      expiresAt: Math.round(system.now() + lifetimeMs),
      sequence: ++this.#sequence,
    });
  }
}
