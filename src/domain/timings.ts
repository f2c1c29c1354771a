/** Time limits, ms. Each is an option. */
export interface Timings {
  /** Maximum time that a call waits for its instance. */
  readonly queueTimeoutMs: number;
  /** Maximum time to prepare the start of a message, from the call's turn; no number is dialled before. */
  readonly messagePreparationMs: number;
  /** Maximum time that the callee's phone rings. */
  readonly ringTimeoutMs: number;
  /** Maximum duration of a call, counted from the end of a fixed message. */
  readonly maxDurationMs: number;
  /** Maximum time from the connection to the first inbound audio, if audio is certain to arrive. */
  readonly mediaTimeoutMs: number;
  /** Maximum time from the answer until our media path is up. */
  readonly mediaSetupMs: number;
  /** Silence after a message, before the hang-up. */
  readonly tailMs: number;
  /** Maximum time that a stream is without a client, from the answer or the disconnect. */
  readonly streamAttachMs: number;
  /** Maximum time from a leg's hang-up to its end; then the core drops it. */
  readonly releaseTimeoutMs: number;
  /** Maximum time that a live call continues while its line is offline. */
  readonly lineLossMs: number;
  /** Time that an instance stays `ACTIVE` while its line is offline. */
  readonly lineGraceMs: number;
  /** Interval between probes of an idle line. */
  readonly probeMs: number;
  /** Interval between probes of a line with a live call. */
  readonly probeInCallMs: number;
  /** Time that `configure` waits for a linking code, or for the network's reason why there is none. */
  readonly linkCodeMs: number;
  /** Maximum time for a network to open a line. */
  readonly lineOpenMs: number;
  /** Maximum time for a network to remove the device of a deleted instance. */
  readonly unlinkMs: number;
  /** Time that a request waits for a write; the write itself continues. */
  readonly storeMs: number;
  /** Maximum time for a line, a network or an engine to close. */
  readonly closeMs: number;
  /** Length of the lease by which one server owns a PostgreSQL database, from its last renewal. */
  readonly leaseMs: number;
  /** Interval of lease renewals; less than half of `leaseMs`. */
  readonly leaseRenewMs: number;
}

/** True if the lease is renewed often enough for a second attempt after a failed one. */
export function isLeaseRenewedInTime({ leaseMs, leaseRenewMs }: Pick<Timings, "leaseMs" | "leaseRenewMs">): boolean {
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
