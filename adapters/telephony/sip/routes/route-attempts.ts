import { DialError, type ReleaseCause } from "../../../../src/ports/telephony.ts";
import type { SipLeg } from "../leg.ts";

/** Dials over one trunk. @throws {DialError} */
export type DialTrunk = (trunk: string, signal: AbortSignal) => Promise<SipLeg>;

/** An accepted attempt over one of the trunks. */
export interface Attempt {
  readonly trunk: string;
  readonly leg: SipLeg;
  /** Reason why the trunks since the previous attempt did not accept the call; null if there were none. */
  readonly reason: string | null;
}

/** Releases without an INVITE, after which another trunk may be tried. */
const RETRYABLE_RELEASES: ReadonlySet<ReleaseCause> = new Set([
  "line_lost",
  "unreachable",
  "media_failed",
  "rejected_by_network",
  "number_invalid",
]);

/** The trunks for one call, tried one after another. */
export class RouteAttempts {
  readonly #remainingTrunks: string[];
  readonly #dial: DialTrunk;
  readonly #errors: DialError[] = [];
  readonly #reasons: string[] = [];
  /** Number of reasons that have been reported with the attempts so far. */
  #reportedReasonCount = 0;

  /** @param trunks the trunks, in the order in which they are tried */
  constructor(trunks: readonly string[], dial: DialTrunk) {
    this.#remainingTrunks = [...trunks];
    this.#dial = dial;
  }

  /** Reasons why trunks have not accepted the call, in order; null if there are none. */
  get reasons(): string | null {
    return joinReasons(this.#reasons);
  }

  /** Records that a trunk has refused the call. */
  recordRefusal(trunk: string, detail: string | null): void {
    this.#reasons.push(`trunk ${trunk}: ${detail ?? "no reason given"}`);
  }

  /**
   * Dials over the remaining trunks until one accepts the call; returns undefined if none does.
   * @throws {DialError} the call has ended
   */
  async next(signal: AbortSignal): Promise<Attempt | undefined> {
    for (let trunk = this.#remainingTrunks.shift(); trunk !== undefined; trunk = this.#remainingTrunks.shift()) {
      try {
        const leg = await this.#dial(trunk, signal);
        const reason = joinReasons(this.#reasons.slice(this.#reportedReasonCount));
        this.#reportedReasonCount = this.#reasons.length;
        return { trunk, leg, reason };
      } catch (fault) {
        if (!(fault instanceof DialError) || !RETRYABLE_RELEASES.has(fault.release)) throw fault;
        this.#errors.push(fault);
        this.recordRefusal(trunk, fault.message);
      }
    }
    return undefined;
  }

  /** The error if no trunk has accepted the call: the call waits if one of them is at its limit or offline. */
  refusal(): DialError {
    const lineLostErrors = this.#errors.filter(({ release }) => release === "line_lost");
    const waitsMs = lineLostErrors.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
    const release = lineLostErrors[0]?.release ?? this.#errors[0]?.release ?? "rejected_by_network";
    return new DialError(release, this.reasons ?? "not dialled: the route has no trunk for this number", {
      retryAfterMs: waitsMs.length === 0 ? undefined : Math.min(...waitsMs),
    });
  }
}

function joinReasons(reasons: readonly string[]): string | null {
  return reasons.length === 0 ? null : reasons.join("; ");
}
