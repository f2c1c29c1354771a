import { errorText } from "../../../../src/base/error.ts";
import { Queue } from "../../../../src/base/queue.ts";
import type { FrameSink, FrameSource } from "../../../../src/ports/media.ts";
import {
  DialError,
  type DialProgress,
  type KeyDelivery,
  type Leg,
  type LegEvent,
  type MediaEvidence,
  type MediaStatistics,
} from "../../../../src/ports/telephony.ts";
import type { Attempt, RouteAttempts } from "./route-attempts.ts";

type LegEnded = Extract<LegEvent, { type: "ended" }>;

/** Options of {@link RouteLeg}. */
export interface RouteLegOptions {
  /** The first trunk that has accepted the call. */
  readonly first: Attempt;
  /** The remaining trunks. */
  readonly attempts: RouteAttempts;
  /** Called when the leg has ended. */
  readonly onEnded: (leg: Leg) => void;
}

/**
 * One call over a route's trunks: a leg on one trunk, then on the next one if no phone can have rung. For the core it
 * is one leg, placed once.
 */
export class RouteLeg implements Leg {
  readonly sampleRate: number;
  readonly frameMs: number;
  readonly events: Queue<LegEvent> = new Queue();
  readonly #options: RouteLegOptions;
  readonly #abort = new AbortController();
  readonly #ended: Promise<void>;
  #attempt: Attempt;
  #audio: { readonly source: FrameSource; readonly sink: FrameSink } | undefined;
  #isPlaced = false;

  constructor(options: RouteLegOptions) {
    this.#options = options;
    this.#attempt = options.first;
    const { sampleRate, frameMs } = options.first.leg;
    this.sampleRate = sampleRate;
    this.frameMs = frameMs;
    this.#ended = this.#run();
  }

  /** The Call-ID on the current trunk. */
  get sipCallId(): string | undefined {
    return this.#attempt.leg.sipCallId;
  }

  /** Delivery of keys, as negotiated over the current trunk. */
  get dtmf(): KeyDelivery {
    return this.#attempt.leg.dtmf;
  }

  /** Transfers over the current trunk; returns undefined if it supports none. */
  get transfer(): Leg["transfer"] {
    return this.#attempt.leg.transfer;
  }

  connectMedia(source: FrameSource, sink: FrameSink): void {
    this.#audio = { source, sink };
    this.#attempt.leg.connectMedia(source, sink);
  }

  sendDtmf(digits: string): Promise<void> {
    return this.#attempt.leg.sendDtmf(digits);
  }

  statistics(): MediaStatistics | null {
    return this.#attempt.leg.statistics();
  }

  progress(): DialProgress {
    const { trunk, leg } = this.#attempt;
    const { reached, detail } = leg.progress();
    const reasons = [this.#options.attempts.reasons, `trunk ${trunk}: ${detail}`].filter((reason) => reason !== null);
    return { reached: reached, detail: detail === null ? null : reasons.join("; ") };
  }

  evidence(): MediaEvidence {
    return this.#attempt.leg.evidence();
  }

  hangUp(): Promise<void> {
    this.#abort.abort();
    void this.#attempt.leg.hangUp();
    return this.#ended;
  }

  async #run(): Promise<void> {
    const end = await this.#runAttempts();
    this.events.push(end);
    this.events.close();
    this.#options.onEnded(this);
  }

  /** Carries the call over one trunk after another, up to its end. */
  async #runAttempts(): Promise<LegEnded> {
    const { attempts } = this.#options;
    for (let number = 1; ; number++) {
      const { trunk, leg, reason } = this.#attempt;
      const { sipCallId } = leg;
      const idField = sipCallId === undefined ? {} : { sip_call_id: sipCallId };
      const data = { trunk, attempt: number, reason, ...idField };
      this.events.push({ type: "noted", fact: { event: "route", data } });
      const { detail, ...endFields } = await this.#forwardEvents();
      const end: LegEnded = { ...endFields, detail: detail === null ? null : `trunk ${trunk}: ${detail}` };
      if (!leg.canTryOtherTrunk) return end;
      attempts.recordRefusal(trunk, detail);
      const next = await this.#next();
      if (next === undefined) return this.#refusedEnd(end);
      if ("cause" in next) return next;
    }
  }

  /** Forwards the events of the current trunk; resolves with the end. */
  async #forwardEvents(): Promise<LegEnded> {
    for await (const event of this.#attempt.leg.events) {
      if (event.type === "ended") return event;
      if (event.type === "placed" && this.#isPlaced) continue;
      this.#isPlaced ||= event.type === "placed";
      this.events.push(event);
    }
    return { type: "ended", cause: "internal_error", detail: "the trunk's leg stopped reporting before the end" };
  }

  /**
   * Continues over the next trunk; returns undefined if there is none. The call ends if it was hung up in the meantime.
   */
  async #next(): Promise<Attempt | LegEnded | undefined> {
    const { signal } = this.#abort;
    try {
      const next = await this.#options.attempts.next(signal);
      if (next === undefined) return signal.aborted ? RELEASED : undefined;
      this.#attempt = next;
      if (this.#audio) next.leg.connectMedia(this.#audio.source, this.#audio.sink);
      if (signal.aborted) void next.leg.hangUp();
      return next;
    } catch (fault) {
      if (signal.aborted) return RELEASED;
      const cause = fault instanceof DialError ? fault.release : "internal_error";
      return { type: "ended", cause, detail: errorText(fault) };
    }
  }

  /**
   * The end if no trunk is left: the call waits if no INVITE has been sent and one of the trunks may accept it later.
   */
  #refusedEnd(end: LegEnded): LegEnded {
    const { attempts } = this.#options;
    const { release } = attempts.refusal();
    const detail = attempts.reasons;
    return !this.#isPlaced && release === "line_lost" ? { type: "ended", cause: release, detail } : { ...end, detail };
  }
}

const RELEASED: LegEnded = { type: "ended", cause: "released", detail: null };
