import type { Pause } from "../../domain/dialling-rules/number-protection.ts";
import type { Context } from "../context.ts";
import type { InstanceRecord } from "./instance-record.ts";

/**
 * Maximum time by which a pause may prolong or follow another without being reported again, ms: a number that has used
 * up its warm-up pauses after every call.
 */
const SAME_PAUSE_MS = 600_000;

/** The pause of an instance's number. */
export class NumberPause {
  readonly #context: Pick<Context, "system">;
  readonly #record: InstanceRecord;

  constructor(context: Pick<Context, "system">, record: InstanceRecord) {
    this.#context = context;
    this.#record = record;
  }

  /**
   * Stores the pause of the number, and reports it once.
   * @param pause undefined if the number may call again
   */
  set(pause: Pause | undefined): void {
    const { system } = this.#context;
    const isStored = () => {
      const { pause: last } = this.#record.instance;
      return pause ? last?.until === pause.until : (last?.until ?? 0) <= system.now();
    };
    if (isStored()) return;
    this.#record.enqueue(async () => {
      // In the meantime, the number may have been unlinked, or the same pause stored.
      if (this.#record.instance.status === "CREATED" || isStored()) return;
      if (!pause) return this.#record.move({ patch: { pause: null } });
      const data = { paused_until: new Date(pause.until).toISOString(), reason: pause.reason };
      const fact = { event: "instance.paused", data } as const;
      return this.#record.move({ patch: { pause }, ...(!this.#isReported(pause) && { fact }) });
    });
  }

  /** True if the pause is the latest that was reported. */
  #isReported({ until }: Pause): boolean {
    const now = this.#context.system.now();
    const last = this.#record.instance.pause?.until ?? 0;
    return last > now - SAME_PAUSE_MS && until - Math.max(now, last) < SAME_PAUSE_MS;
  }
}
