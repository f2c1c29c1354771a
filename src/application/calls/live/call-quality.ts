import type { MediaStatistics } from "../../../domain/calls/media-statistics.ts";
import { type QualityInterval, QualitySeries } from "../../../domain/calls/quality-series.ts";
import type { Leg } from "../../../ports/telephony.ts";
import type { Context } from "../../context.ts";
import type { CallClock } from "../call-clock.ts";

/** Quality of one live call's audio on the network: reads the leg's statistics every few seconds. */
export class QualityRecorder {
  readonly #context: Pick<Context, "system" | "log">;
  readonly #callId: string;
  readonly #clock: CallClock;
  readonly #leg: Leg;
  readonly #series = new QualitySeries();
  #connectedAt = 0;
  #cancelSample: (() => void) | undefined;

  constructor(context: Pick<Context, "system" | "log">, callId: string, clock: CallClock, leg: Leg) {
    this.#context = context;
    this.#callId = callId;
    this.#clock = clock;
    this.#leg = leg;
  }

  /** Measurements so far; undefined if there are none. */
  get intervals(): readonly QualityInterval[] | undefined {
    const { intervals } = this.#series;
    return intervals.length === 0 ? undefined : intervals;
  }

  /** Begins when the call has connected. @param at ms since 1970-01-01 UTC */
  begin(at: number): void {
    this.#connectedAt = at;
    this.#schedule();
  }

  /** Ends the measurement with the network's final statistics of the call. @param at ms since 1970-01-01 UTC */
  end(at: number, statistics: MediaStatistics | null): void {
    if (this.#cancelSample && statistics) this.#series.add(at - this.#connectedAt, statistics);
    this.stop();
  }

  /** Stops reading the statistics. Idempotent. */
  stop(): void {
    this.#cancelSample?.();
    this.#cancelSample = undefined;
  }

  #schedule(): void {
    this.#cancelSample = this.#context.system.after(this.#series.intervalMs, () => {
      try {
        const statistics = this.#leg.statistics?.();
        if (statistics) this.#series.add(this.#clock.now() - this.#connectedAt, statistics);
      } catch (error) {
        this.#context.log.warn(
          { call_id: this.#callId, err: error },
          "the network could not report the quality of the audio",
        );
      }
      this.#schedule();
    });
  }
}
