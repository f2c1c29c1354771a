import type { LineHealth } from "../../../src/ports/telephony.ts";
import type { HealthListener } from "./carrier.ts";

/** The linked lines of a carrier, which receive its health. */
export class LinkedLines {
  readonly #lines = new Set<HealthListener>();
  readonly #ask: () => Promise<LineHealth>;

  /** @param ask returns the current health; never rejects */
  constructor(ask: () => Promise<LineHealth>) {
    this.#ask = ask;
  }

  /** Adds a line, which receives the current health and every change until it parts. */
  join(line: HealthListener): void {
    this.#lines.add(line);
    void this.#ask().then((health) => {
      if (this.#lines.has(line)) line.health(health);
    });
  }

  part(line: HealthListener): void {
    this.#lines.delete(line);
  }

  changed(health: LineHealth): void {
    for (const line of [...this.#lines]) line.health(health);
  }
}
