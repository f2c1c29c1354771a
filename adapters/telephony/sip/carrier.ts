import type { Deadlines, DialOptions, Leg, LineHealth } from "../../../src/ports/telephony.ts";

/** Carries the calls of lines: a trunk, or a route over several trunks. */
export interface Carrier {
  /** The number that calls come from; null if there is none, or more than one. */
  readonly phone: string | null;
  /** Starts reporting its health to a line: now, and after every change. */
  join(line: HealthListener): void;
  /** Stops reporting to a line. */
  part(line: HealthListener): void;
  /** The current health. Never rejects. */
  ask(): Promise<LineHealth>;
  /**
   * Places a call.
   * @param gone called when the call has ended
   * @throws {DialError}
   */
  dial(to: string, options: CarrierDialOptions, signal: AbortSignal, gone: (leg: Leg) => void): Promise<Leg>;
}

/** Receives the health of a carrier. */
export interface HealthListener {
  health(health: LineHealth): void;
}

/** Options of a call that a line places. */
export interface CarrierDialOptions extends Pick<DialOptions, "callId" | "from" | "sip" | "mayCall"> {
  /** Set by the line's host. */
  readonly deadlines: Deadlines;
  /** Sample rate of the leg, Hz. Default: the trunk's. */
  readonly sampleRate?: number | undefined;
}

/** The linked lines of a carrier, which receive its health. */
export class LinkedLines {
  readonly #lines = new Set<HealthListener>();
  readonly #ask: () => Promise<LineHealth>;

  /** @param ask returns the current health; never rejects */
  constructor(ask: () => Promise<LineHealth>) {
    this.#ask = ask;
  }

  /** Adds a line, which receives the current health and every change until it leaves. */
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
