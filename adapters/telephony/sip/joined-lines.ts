import type { LineHealth } from "../../../src/ports/telephony.ts";
import type { HealthListener } from "./carrier.ts";

/** The lines of a carrier, which receive its health. */
export class JoinedLines {
  readonly #lines = new Set<HealthListener>();
  readonly #ask: () => Promise<LineHealth>;

  /** @param ask what is true now; never rejects */
  constructor(ask: () => Promise<LineHealth>) {
    this.#ask = ask;
  }

  /** From now on the line receives every change; it receives what is true now unless it parts before. */
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
