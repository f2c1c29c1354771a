/** Time limits. All ms; every one is an option. */
export interface Timings {
  /** A call may wait for its instance this long. */
  readonly queueTimeoutMs: number;
  /** The start of a message must be ready this long after its turn; no number is dialled before. */
  readonly messagePreparationMs: number;
  /** The callee's phone may ring this long. */
  readonly ringTimeoutMs: number;
  /** A call may last this long, counted from the end of a fixed message. */
  readonly maxDurationMs: number;
  /** The first inbound audio must arrive this long after the connection, if audio is certain to arrive. */
  readonly mediaTimeoutMs: number;
  /** Our media path must be up this long after the answer. */
  readonly mediaSetupMs: number;
  /** Silence after a message, before the hang-up. */
  readonly tailMs: number;
  /** A stream may be without a client this long, from the answer or the disconnect. */
  readonly streamAttachMs: number;
  /** A leg must have ended this long after it was hung up; then the core drops it. */
  readonly releaseTimeoutMs: number;
  /** A live call outlasts its line's silence this long. */
  readonly lineLossMs: number;
  /** An instance stays `ACTIVE` this long while its line is offline. */
  readonly lineGraceMs: number;
  /** Interval of probes of an idle line. */
  readonly probeMs: number;
  /** Interval of probes of a line with a live call. */
  readonly probeInCallMs: number;
  /** `configure` waits this long for a linking code, or for the network's reason why there is none. */
  readonly linkCodeMs: number;
  /** A network may take this long to open a line. */
  readonly lineOpenMs: number;
  /** A network may take this long to forget the device of a deleted instance. */
  readonly unlinkMs: number;
  /** Time a request waits for a write; the write itself continues. */
  readonly storeMs: number;
  /** A line, a network or an engine may take this long to close. */
  readonly closeMs: number;
  /** Lease of the one server of a PostgreSQL database: it runs out this long after its last renewal. */
  readonly leaseMs: number;
  /** Interval of lease renewals; less than half of `leaseMs`. */
  readonly leaseRenewMs: number;
}

/** True if the lease is renewed often enough for a second attempt after a failed one. */
export function leaseIsRenewedInTime({ leaseMs, leaseRenewMs }: Pick<Timings, "leaseMs" | "leaseRenewMs">): boolean {
  return leaseRenewMs < leaseMs / 2;
}

/** The default timings, ms. */
export const DEFAULT_TIMINGS: Timings = {
  queueTimeoutMs: 10 * 60_000,
  messagePreparationMs: 15_000,
  ringTimeoutMs: 60_000,
  maxDurationMs: 10 * 60_000,
  mediaTimeoutMs: 10_000,
  mediaSetupMs: 10_000,
  tailMs: 300,
  streamAttachMs: 10_000,
  releaseTimeoutMs: 5_000,
  lineLossMs: 1_000,
  lineGraceMs: 30_000,
  probeMs: 5_000,
  probeInCallMs: 1_000,
  linkCodeMs: 10_000,
  lineOpenMs: 10_000,
  unlinkMs: 10_000,
  storeMs: 5_000,
  closeMs: 5_000,
  leaseMs: 10_000,
  leaseRenewMs: 2_000,
};
