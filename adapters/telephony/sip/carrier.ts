import type { Deadlines, DialOptions, Leg, LineHealth } from "../../../src/ports/telephony.ts";

/** Carries the calls of lines: a trunk, or a route over several trunks. */
export interface Carrier {
  /** The number that calls come from; null if there is none, or more than one. */
  readonly phone: string | null;
  /** Starts reporting its health to a line: now, and after every change. */
  subscribe(line: HealthListener): void;
  /** Stops reporting to a line. */
  unsubscribe(line: HealthListener): void;
  /** The current health. Never rejects. */
  checkHealth(): Promise<LineHealth>;
  /**
   * Places a call.
   * @param onEnded called when the call has ended
   * @throws {DialError}
   */
  dial(to: string, options: CarrierDialOptions, signal: AbortSignal, onEnded: (leg: Leg) => void): Promise<Leg>;
}

/** Receives the health of a carrier. */
export interface HealthListener {
  healthChanged(health: LineHealth): void;
}

/** Options of a call placed by a line. */
export interface CarrierDialOptions extends Pick<DialOptions, "callId" | "from" | "sip" | "mayCall"> {
  /** Deadlines set by the line's host. */
  readonly deadlines: Deadlines;
  /** Sample rate of the leg, Hz. Default: the trunk's. */
  readonly sampleRate?: number | undefined;
}

/** A carrier's linked lines, which receive its health. */
export class LinkedLines {
  readonly #lines = new Set<HealthListener>();
  readonly #checkHealth: () => Promise<LineHealth>;

  /** @param checkHealth returns the current health; never rejects */
  constructor(checkHealth: () => Promise<LineHealth>) {
    this.#checkHealth = checkHealth;
  }

  /** Adds a line, which receives the current health and every change until it unsubscribes. */
  subscribe(line: HealthListener): void {
    this.#lines.add(line);
    void this.#checkHealth().then((health) => {
      if (this.#lines.has(line)) line.healthChanged(health);
    });
  }

  unsubscribe(line: HealthListener): void {
    this.#lines.delete(line);
  }

  report(health: LineHealth): void {
    for (const line of [...this.#lines]) line.healthChanged(health);
  }
}
