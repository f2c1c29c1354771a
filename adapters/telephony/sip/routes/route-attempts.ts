import { DialError, type ReleaseCause } from "../../../../src/ports/telephony.ts";
import type { SipLeg } from "../leg.ts";

/** Dials over one trunk. @throws {DialError} */
export type DialOver = (trunk: string, signal: AbortSignal) => Promise<SipLeg>;

/** An accepted attempt over one of the trunks. */
export interface Attempt {
  readonly trunk: string;
  readonly leg: SipLeg;
  /** Reason why the trunks since the previous attempt did not accept the call; null if there were none. */
  readonly reason: string | null;
}

/** Releases without an INVITE, after which another trunk may be tried. */
const PASSED_OVER: ReadonlySet<ReleaseCause> = new Set([
  "line_lost",
  "unreachable",
  "media_failed",
  "rejected_by_network",
  "number_invalid",
]);

/** The trunks of one call, tried one after another. */
export class RouteAttempts {
  readonly #remaining: string[];
  readonly #dial: DialOver;
  readonly #passedOver: DialError[] = [];
  readonly #reasons: string[] = [];
  /** Number of reasons before the last attempt. */
  #before = 0;

  /** @param trunks in the order in which they are tried */
  constructor(trunks: readonly string[], dial: DialOver) {
    this.#remaining = [...trunks];
    this.#dial = dial;
  }

  /** Reasons why the trunks did not accept the call, in order; null if there were none. */
  get reasons(): string | null {
    return joined(this.#reasons);
  }

  /** Records that a trunk has refused the call. */
  refused(trunk: string, detail: string | null): void {
    this.#reasons.push(`trunk ${trunk}: ${detail ?? "no reason given"}`);
  }

  /**
   * Dials over the next trunk that accepts the call; undefined if none is left.
   * @throws {DialError} the call has ended
   */
  async next(signal: AbortSignal): Promise<Attempt | undefined> {
    for (let trunk = this.#remaining.shift(); trunk !== undefined; trunk = this.#remaining.shift()) {
      try {
        const leg = await this.#dial(trunk, signal);
        const reason = joined(this.#reasons.slice(this.#before));
        this.#before = this.#reasons.length;
        return { trunk, leg, reason };
      } catch (fault) {
        if (!(fault instanceof DialError) || !PASSED_OVER.has(fault.release)) throw fault;
        this.#passedOver.push(fault);
        this.refused(trunk, fault.message);
      }
    }
    return undefined;
  }

  /** The error if no trunk has accepted the call: the call waits if one of them is at its limit or offline. */
  refusal(): DialError {
    const lost = this.#passedOver.filter(({ release }) => release === "line_lost");
    const waits = lost.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
    const release = lost[0]?.release ?? this.#passedOver[0]?.release ?? "rejected_by_network";
    return new DialError(release, this.reasons ?? "not dialled: the route has no trunk for this number", {
      retryAfterMs: waits.length === 0 ? undefined : Math.min(...waits),
    });
  }
}

function joined(reasons: readonly string[]): string | null {
  return reasons.length === 0 ? null : reasons.join("; ");
}
