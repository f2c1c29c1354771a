import { BoundedMap, type System } from "../ports.ts";
import { addressAndPort, type Flow, type Hop } from "./transport.ts";

/** Time from a hop's failure to its first probe, ms; each failed probe doubles the wait. */
const FIRST_PROBE_MS = 30_000;
/** Maximum wait for the next probe, ms. */
const MAX_WAIT_MS = 5 * 60_000;
const MAX_HOPS = 256;

/** Resolves with true if a hop works again. `deadFlow` is the connection that it failed on. */
export type ProbeHop = (hop: Hop, deadFlow: Flow | undefined) => Promise<boolean>;

interface Failure {
  readonly deadFlow: Flow | undefined;
  waitMs: number;
  probeAt: number;
  /**
   * `probed`: the latest probe has succeeded; the hop is considered working, but waits longer after its next failure.
   */
  state: "failed" | "probing" | "probed";
}

/**
 * Hops that have failed (RFC 3263 section 4.3): refused, unreachable, silent or overloaded. Requests try them last,
 * until a probe in the background, or a request without another hop, finds that they work.
 */
export class FailedHops {
  readonly #system: System;
  readonly #probe: ProbeHop;
  readonly #failures = new BoundedMap<string, Failure>(MAX_HOPS);

  constructor(system: System, probe: ProbeHop) {
    this.#system = system;
    this.#probe = probe;
  }

  /** Records a failed hop. Several failures before its next probe count once. */
  add(hop: Hop, deadFlow?: Flow): void {
    const now = this.#system.monotonic();
    const failure = this.#failures.get(keyOf(hop));
    if (failure?.state === "probing" || (failure?.state === "failed" && now < failure.probeAt)) return;
    const waitMs = failure === undefined ? FIRST_PROBE_MS : nextWaitMs(failure.waitMs);
    this.#failures.set(keyOf(hop), { deadFlow, waitMs, probeAt: now + waitMs, state: "failed" });
  }

  /** Records that a hop has responded to a request. */
  recordSuccess(hop: Hop): void {
    this.#failures.delete(keyOf(hop));
  }

  /** The same hops with working ones first and failed ones last, otherwise in order. Starts probes that are due. */
  inOrder(hops: readonly Hop[]): Hop[] {
    const workingHops = hops.filter((hop) => (this.#failures.get(keyOf(hop))?.state ?? "probed") === "probed");
    const failedHops = hops.filter((hop) => !workingHops.includes(hop));
    if (workingHops.length > 0) for (const hop of failedHops) this.#probeIfDue(hop);
    return [...workingHops, ...failedHops];
  }

  #probeIfDue(hop: Hop): void {
    const failure = this.#failures.get(keyOf(hop));
    if (failure?.state !== "failed" || this.#system.monotonic() < failure.probeAt) return;
    failure.state = "probing";
    void this.#probe(hop, failure.deadFlow)
      .catch(() => false)
      .then((isWorking) => {
        failure.state = isWorking ? "probed" : "failed";
        if (isWorking) return;
        failure.waitMs = nextWaitMs(failure.waitMs);
        failure.probeAt = this.#system.monotonic() + failure.waitMs;
      });
  }
}

function nextWaitMs(waitMs: number): number {
  return Math.min(2 * waitMs, MAX_WAIT_MS);
}

function keyOf(hop: Hop): string {
  return `${hop.kind} ${addressAndPort(hop)}`;
}
