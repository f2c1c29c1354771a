import type { Deadlines, DialOptions, Leg, LineHealth } from "../../../src/ports/telephony.ts";

/** What carries the calls of lines: a trunk, or a route over several. */
export interface Carrier {
  /** The number that calls come from; null if there is none, or more than one. */
  readonly phone: string | null;
  /** Reports its health to a line: now, and whenever it changes. */
  join(line: HealthListener): void;
  part(line: HealthListener): void;
  /** What is true now. Never rejects. */
  ask(): Promise<LineHealth>;
  /**
   * Places a call.
   * @param gone called when it is over
   * @throws {DialError}
   */
  dial(to: string, options: CarrierDialOptions, signal: AbortSignal, gone: (leg: Leg) => void): Promise<Leg>;
}

/** Receives the health of a carrier. */
export interface HealthListener {
  health(health: LineHealth): void;
}

/** A call to be placed, for a line. */
export interface CarrierDialOptions extends Pick<DialOptions, "callId" | "from" | "mayCall"> {
  /** Of the line's host. */
  readonly deadlines: Deadlines;
  /** Rate of the leg, Hz. Default: the trunk's. */
  readonly sampleRate?: number | undefined;
}
