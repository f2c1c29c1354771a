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
  /** True if the host already knows that the number is linked. Default: false. */
  readonly known?: boolean;
  /** Called when the line is closed. */
  readonly closed: () => void;
}

/**
 * An instance's line on a trunk or a route of the operator: it needs no code and no credentials, and all lines of a trunk
 * are online together.
 */
export class SipLine implements Line {
  readonly #options: SipLineOptions;
  #linked = false;
  #closed = false;
  /** The last report to the host. */
  #reported: LineHealth | undefined;
  readonly #legs = new Set<Leg>();

  constructor(options: SipLineOptions) {
    this.#options = options;
  }

  /** Links the line, after it was handed over and again after `unlink()`. */
  async link(): Promise<void> {
    if (this.#closed || this.#linked) return;
    const { host, carrier, known } = this.#options;
    this.#linked = true;
    this.#reported = undefined;
    if (!known) host.linked(carrier.phone).catch(() => {}); // the instance was deleted, and its line is about to be closed
    carrier.join(this);
  }

  async probe(): Promise<LineHealth> {
    if (this.#closed) return offline("closed");
    if (!this.#linked) return offline("not linked");
    const health = await this.#options.carrier.ask();
    return this.#closed ? offline("closed") : this.#linked ? health : offline("not linked");
  }

  async dial(to: string, options: DialOptions, signal: AbortSignal): Promise<Leg> {
    if (this.#closed) throw new DialError("unreachable", "the line is closed");
    if (!this.#linked) throw new DialError("unreachable", "the line is not linked");
    let leg: Leg | undefined;
    let hasEnded = false;
    const hangUp = (): void => void leg?.hangUp();
    const { host, carrier } = this.#options;
    leg = await carrier.dial(to, { ...options, deadlines: host.deadlines }, signal, (ended) => {
      hasEnded = true;
      signal.removeEventListener("abort", hangUp);
      this.#legs.delete(ended);
    });
    if (hasEnded) return leg;
    this.#legs.add(leg);
    signal.addEventListener("abort", hangUp, { once: true });
    // The line may have been closed, or the signal aborted, while the trunk was dialling.
    if (signal.aborted || this.#closed || !this.#linked) hangUp();
    return leg;
  }

  async unlink(): Promise<void> {
    this.#linked = false;
    await this.#part();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#part();
    this.#options.closed();
  }

  /** The carrier's health has changed, or is reported for the first time. */
  health(health: LineHealth): void {
    if (this.#closed || !this.#linked) return;
    const { host } = this.#options;
    if (health.state === this.#reported?.state && health.state === "online") return;
    this.#reported = health;
    if (health.state === "online") host.online();
    else host.offline(health.reason, health.lasting);
  }

  async #part(): Promise<void> {
    this.#options.carrier.part(this);
    await Promise.all([...this.#legs].map((leg) => leg.hangUp()));
  }
}
