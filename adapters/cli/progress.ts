import process from "node:process";

/** A bar that grows in place on a terminal, and stays silent elsewhere. */
export class ProgressBar {
  readonly #started = performance.now();
  readonly #lengthMs: number;
  readonly #timer: NodeJS.Timeout | undefined;

  /** @param lengthMs when the bar is full */
  constructor(lengthMs: number) {
    this.#lengthMs = lengthMs;
    if (!process.stdout.isTTY) return;
    this.#draw();
    this.#timer = setInterval(() => this.#draw(), 100);
  }

  /** Takes the bar away, to print something or for good. */
  clear(): void {
    if (this.#timer) process.stdout.write("\r\x1b[K");
  }

  stop(): void {
    clearInterval(this.#timer);
    this.clear();
  }

  #draw(): void {
    const heardMs = Math.min(performance.now() - this.#started, this.#lengthMs);
    process.stdout.write(`\r\x1b[K  ${progressBar(heardMs, this.#lengthMs)}`);
  }
}

const WIDTH = 40;

/** How much of a message has been heard, as a bar and in seconds. */
export function progressBar(heardMs: number, lengthMs: number): string {
  const share = lengthMs === 0 ? 1 : Math.min(1, heardMs / lengthMs);
  const full = Math.round(share * WIDTH);
  return `heard ${"█".repeat(full)}${"░".repeat(WIDTH - full)} ${seconds(heardMs)} of ${seconds(lengthMs)}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
