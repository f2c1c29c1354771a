/** How far behind the newest packet one may come and still be taken. A power of two. */
const WINDOW = 128;

/** Which of the last packets have come already (RFC 3711 section 3.3.2). Knows them by their number modulo the window. */
export class ReplayWindow {
  readonly #seen = new Int32Array(WINDOW / 32);

  /** Whether the packet may be taken; `ahead`: its number less the newest one's, positive when it is newer. */
  admits(number: number, ahead: number): boolean {
    if (ahead > 0) return true;
    if (ahead <= -WINDOW) return false;
    return ((this.#seen[(number & (WINDOW - 1)) >>> 5] ?? 0) & (1 << (number & 31))) === 0;
  }

  /** The packet is genuine and has been taken. */
  note(number: number, ahead: number): void {
    if (ahead >= WINDOW) this.#seen.fill(0);
    else for (let skipped = number - ahead + 1; skipped < number; skipped++) this.#forget(skipped);
    const word = (number & (WINDOW - 1)) >>> 5;
    this.#seen[word] = (this.#seen[word] ?? 0) | (1 << (number & 31));
  }

  #forget(number: number): void {
    const word = (number & (WINDOW - 1)) >>> 5;
    this.#seen[word] = (this.#seen[word] ?? 0) & ~(1 << (number & 31));
  }
}
