import process from "node:process";
import { isTerminal } from "./terminal.ts";

const REDRAW_MS = 100;

/** The terminal's last line, redrawn as time passes; prints nothing if there is no terminal. */
export class LiveLine {
  readonly #startedAt: number;
  readonly #textAfter: (ms: number) => string;
  readonly #timer: NodeJS.Timeout | undefined;

  /** @param ageMs time since the activity began, ms */
  constructor(textAfter: (ms: number) => string, ageMs = 0) {
    this.#startedAt = performance.now() - ageMs;
    this.#textAfter = textAfter;
    if (!isTerminal()) return;
    this.#draw();
    this.#timer = setInterval(() => this.#draw(), REDRAW_MS);
  }

  /** Clears the line, so that another can be printed in its place. */
  clear(): void {
    if (this.#timer) process.stdout.write("\r\x1b[K");
  }

  /** Idempotent. */
  stop(): void {
    clearInterval(this.#timer);
    this.clear();
  }

  #draw(): void {
    process.stdout.write(`\r\x1b[K  ${this.#textAfter(performance.now() - this.#startedAt)}`);
  }
}
