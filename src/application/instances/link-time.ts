import type { Context } from "../context.ts";
import { storedTime } from "../stored-times.ts";
import type { InstanceRecord } from "./instance-record.ts";

/**
 * Delay before a timestamp from a fast clock is replaced, ms: the clock that seems right may itself be briefly slow.
 */
const TRUST_AFTER_MS = 24 * 3_600_000;

/**
 * Time at which the number of an instance was linked. If a fast clock stored it, the time at which this process first
 * saw it is used instead, so that a warm-up continues.
 */
export class LinkTime {
  readonly #context: Pick<Context, "system">;
  readonly #record: InstanceRecord;
  /** The stored time, and the time on the monotonic clock at which this process first saw it, ms. */
  #firstSeen: { readonly linkedAt: number; readonly monotonic: number } | undefined;

  constructor(context: Pick<Context, "system">, record: InstanceRecord) {
    this.#context = context;
    this.#record = record;
  }

  /** ms since 1970-01-01 UTC; now while no number is linked. */
  linkedAt(): number {
    const { system } = this.#context;
    const now = system.now();
    const monotonic = system.monotonic();
    const { linkedAt } = this.#record.instance;
    if (typeof linkedAt !== "number") return now;
    if (this.#firstSeen?.linkedAt !== linkedAt) this.#firstSeen = { linkedAt, monotonic };
    const observedMs = Math.floor(monotonic - this.#firstSeen.monotonic);
    const effectiveTime = Math.min(storedTime("instances.linked_at", linkedAt, now), now - observedMs);
    if (linkedAt > now && observedMs >= TRUST_AFTER_MS) this.#replace(linkedAt, effectiveTime);
    return effectiveTime;
  }

  #replace(previousTime: number, linkedAt: number): void {
    this.#record.enqueue(async () => {
      if (this.#record.instance.linkedAt === previousTime) await this.#record.move({ patch: { linkedAt } });
    });
  }
}
