import type { Context } from "../context.ts";
import { storedTime } from "../stored-times.ts";
import type { InstanceRecord } from "./instance-record.ts";

/** Time after which a timestamp of a fast clock is replaced, ms: the clock that seems right may itself be briefly behind. */
const BELIEVED_AFTER_MS = 24 * 3_600_000;

/**
 * Time at which the number of an instance was linked. If that was stored while the clock was ahead, the link counts from when this
 * process has it, so that a warm-up continues.
 */
export class LinkTime {
  readonly #context: Pick<Context, "system">;
  readonly #record: InstanceRecord;
  /** The stored time, and the time at which this process first saw it by the monotonic clock, ms. */
  #seen: { readonly linkedAt: number; readonly monotonic: number } | undefined;

  constructor(context: Pick<Context, "system">, record: InstanceRecord) {
    this.#context = context;
    this.#record = record;
  }

  /** ms since 1970-01-01 UTC; now while no number is linked. */
  linkedAt(): number {
    const { system } = this.#context;
    const now = system.now();
    const monotonic = system.monotonic();
    const { linkedAt } = this.#record.current;
    if (typeof linkedAt !== "number") return now;
    if (this.#seen?.linkedAt !== linkedAt) this.#seen = { linkedAt, monotonic };
    const knownMs = Math.floor(monotonic - this.#seen.monotonic);
    const counted = Math.min(storedTime("instances.linked_at", linkedAt, now), now - knownMs);
    if (linkedAt > now && knownMs >= BELIEVED_AFTER_MS) this.#replace(linkedAt, counted);
    return counted;
  }

  #replace(stored: number, linkedAt: number): void {
    this.#record.enqueue(async () => {
      if (this.#record.current.linkedAt === stored) await this.#record.move({ patch: { linkedAt } });
    });
  }
}
