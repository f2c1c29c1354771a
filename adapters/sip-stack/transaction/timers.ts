/** T1, T2 and T4, from which all timers of SIP are derived (RFC 3261 section 17.1.1.1), ms. */
export interface SipTimers {
  /** The estimate of the round-trip time: the first retransmission comes after it. Default: 500. */
  readonly t1Ms: number;
  /** The longest pause between two retransmissions. Default: 4000. */
  readonly t2Ms: number;
  /** How long a message may stay in the network. Default: 5000. */
  readonly t4Ms: number;
  /** How long to wait for a silent hop before the next one is tried. Default: 8 * T1. */
  readonly nextHopMs: number;
}

/** The times of the RFC, or those of a test. */
export function sipTimers(timers: Partial<SipTimers> = {}): SipTimers {
  const t1Ms = timers.t1Ms ?? 500;
  return {
    t1Ms,
    t2Ms: timers.t2Ms ?? 4000,
    t4Ms: timers.t4Ms ?? 5000,
    nextHopMs: timers.nextHopMs ?? 8 * t1Ms,
  };
}

/** The length of timers B, F, H, J, L and M, ms. */
export function giveUpMs({ t1Ms }: SipTimers): number {
  return 64 * t1Ms;
}
