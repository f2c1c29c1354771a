import { DialError, type ReleaseCause } from "../../../../src/ports/telephony.ts";
import type { SipLeg } from "../leg.ts";

/** Dials over one trunk. @throws {DialError} */
export type DialOver = (trunk: string, signal: AbortSignal) => Promise<SipLeg>;

/** A call over one of the trunks. */
export interface Attempt {
  readonly trunk: string;
  readonly leg: SipLeg;
  /** Why the trunks before it did not take the call, since the attempt before; null if there were none. */
  readonly reason: string | null;
}

/** Why a trunk does not take a call that another one may take: nobody was asked. */
const PASSED_OVER: ReadonlySet<ReleaseCause> = new Set([
  "line_lost",
  "unreachable",
  "media_failed",
  "rejected_by_network",
  "number_invalid",
]);

/** The trunks of one call, tried one after another. */
export class RouteAttempts {
  readonly #left: string[];
  readonly #dial: DialOver;
  readonly #passed: DialError[] = [];
  readonly #reasons: string[] = [];
  /** How many of the reasons came before the last attempt. */
  #before = 0;

  /** @param trunks in the order in which they are to be tried */
  constructor(trunks: readonly string[], dial: DialOver) {
    this.#left = [...trunks];
    this.#dial = dial;
  }

  /** Why trunks did not take the call, in order; null if there were none. */
  get reasons(): string | null {
    return joined(this.#reasons);
  }

  /** A trunk was asked, and the call goes on without it. */
  left(trunk: string, detail: string | null): void {
    this.#reasons.push(`trunk ${trunk}: ${detail ?? "no reason given"}`);
  }

  /**
   * Dials over the next trunk that takes the call; undefined if none is left.
   * @throws {DialError} it ends here
   */
  async next(signal: AbortSignal): Promise<Attempt | undefined> {
    for (let trunk = this.#left.shift(); trunk !== undefined; trunk = this.#left.shift()) {
      try {
        const leg = await this.#dial(trunk, signal);
        const reason = joined(this.#reasons.slice(this.#before));
        this.#before = this.#reasons.length;
        return { trunk, leg, reason };
      } catch (fault) {
        if (!(fault instanceof DialError) || !PASSED_OVER.has(fault.release)) throw fault;
        this.#passed.push(fault);
        this.left(trunk, fault.message);
      }
    }
    return undefined;
  }

  /** What no trunk having taken the call comes to: it waits if one of them is full or offline. */
  refusal(): DialError {
    const lost = this.#passed.filter(({ release }) => release === "line_lost");
    const waits = lost.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
    const release = lost[0]?.release ?? this.#passed[0]?.release ?? "rejected_by_network";
    return new DialError(release, this.reasons ?? "not dialled: no trunk of the route is for this number", {
      retryAfterMs: waits.length === 0 ? undefined : Math.min(...waits),
    });
  }
}

function joined(reasons: readonly string[]): string | null {
  return reasons.length === 0 ? null : reasons.join("; ");
}
