import {
  DialError,
  type DialOptions,
  type Leg,
  type Line,
  type LineHealth,
  type LineHost,
} from "../../../src/ports/telephony.ts";
import type { Carrier } from "./carrier.ts";
import { offline } from "./registration/presence.ts";

/** Options of {@link SipLine}. */
export interface SipLineOptions {
  readonly host: LineHost;
  /** The trunk, or the route. */
  readonly carrier: Carrier;
  /** True if the host has already stored the link. Default: false. */
  readonly isLinkStored?: boolean;
  /** Called when the line is closed. */
  readonly onClosed: () => void;
}

/**
 * An instance's line on one of the operator's trunks or routes: it needs no code and no credentials, and all of a
 * trunk's lines are online together.
 */
export class SipLine implements Line {
  readonly #options: SipLineOptions;
  #isLinked = false;
  #isClosed = false;
  /** The health last reported to the host. */
  #reportedHealth: LineHealth | undefined;
  readonly #legs = new Set<Leg>();

  constructor(options: SipLineOptions) {
    this.#options = options;
  }

  /** Links the line: once the network has returned it, and again after `unlink()`. */
  async link(): Promise<void> {
    if (this.#isClosed || this.#isLinked) return;
    const { host, carrier, isLinkStored } = this.#options;
    this.#isLinked = true;
    this.#reportedHealth = undefined;
    if (!isLinkStored) host.linked(carrier.phone).catch(() => {}); // the instance was deleted; its line will close
    carrier.subscribe(this);
  }

  async probe(): Promise<LineHealth> {
    if (this.#isClosed) return offline("closed");
    if (!this.#isLinked) return offline("not linked");
    const health = await this.#options.carrier.checkHealth();
    return this.#isClosed ? offline("closed") : this.#isLinked ? health : offline("not linked");
  }

  async dial(to: string, options: DialOptions, signal: AbortSignal): Promise<Leg> {
    if (this.#isClosed) throw new DialError("unreachable", "the line is closed");
    if (!this.#isLinked) throw new DialError("unreachable", "the line is not linked");
    let leg: Leg | undefined;
    let hasEnded = false;
    const hangUp = (): void => void leg?.hangUp();
    const { host, carrier } = this.#options;
    leg = await carrier.dial(to, { ...options, deadlines: host.deadlines }, signal, (endedLeg) => {
      hasEnded = true;
      signal.removeEventListener("abort", hangUp);
      this.#legs.delete(endedLeg);
    });
    if (hasEnded) return leg;
    this.#legs.add(leg);
    signal.addEventListener("abort", hangUp, { once: true });
    // The line may have been closed, or the signal aborted, while the trunk was dialling.
    if (signal.aborted || this.#isClosed || !this.#isLinked) hangUp();
    return leg;
  }

  async unlink(): Promise<void> {
    this.#isLinked = false;
    await this.#disconnect();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#disconnect();
    this.#options.onClosed();
  }

  /** Called with the carrier's first health and with every change. */
  healthChanged(health: LineHealth): void {
    if (this.#isClosed || !this.#isLinked) return;
    const { host } = this.#options;
    if (health.state === this.#reportedHealth?.state && health.state === "online") return;
    this.#reportedHealth = health;
    if (health.state === "online") host.online();
    else host.offline(health.reason, health.lasting);
  }

  async #disconnect(): Promise<void> {
    this.#options.carrier.unsubscribe(this);
    await Promise.all([...this.#legs].map((leg) => leg.hangUp()));
  }
}
