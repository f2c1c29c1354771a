/** The three times that all timers of SIP are made of (RFC 3261 section 17.1.1.1), ms. */
export interface SipTimers {
  /** The estimate of a round trip: the first repetition comes after it. Default: 500. */
  readonly t1Ms: number;
  /** The longest pause between two repetitions. Default: 4000. */
  readonly t2Ms: number;
  /** For so long a message may stay in the network. Default: 5000. */
  readonly t4Ms: number;
  /** For so long a hop that says nothing at all is waited for while there are others to be tried. Default: 8 * T1. */
  readonly nextHopMs: number;
}

/** The times of the RFC, with those of a test in their place. */
export function sipTimers(timers: Partial<SipTimers> = {}): SipTimers {
  const t1Ms = timers.t1Ms ?? 500;
  return {
    t1Ms,
    t2Ms: timers.t2Ms ?? 4000,
    t4Ms: timers.t4Ms ?? 5000,
    nextHopMs: timers.nextHopMs ?? 8 * t1Ms,
  };
}

/** Timers B, F, H, J, L and M: after so long, everybody has given up. */
export function giveUpMs({ t1Ms }: SipTimers): number {
  return 64 * t1Ms;
}
