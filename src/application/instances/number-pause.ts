import type { Pause } from "../../domain/number-protection.ts";
import type { Context } from "../context.ts";
import type { InstanceRecord } from "./instance-record.ts";

/** The pause of an instance's number. */
export class NumberPause {
  readonly #context: Pick<Context, "system">;
  readonly #record: InstanceRecord;

  constructor(context: Pick<Context, "system">, record: InstanceRecord) {
    this.#context = context;
    this.#record = record;
  }

  /**
   * Stores the pause of the number, and reports it, once; a pause that is prolonged is not reported again.
   * @param pause undefined: its protection lets it call again
   */
  set(pause: Pause | undefined): void {
    const { system } = this.#context;
    const isStored = () => {
      const { pause: last } = this.#record.current;
      return pause ? last?.until === pause.until : (last?.until ?? 0) <= system.now();
    };
    if (isStored()) return;
    this.#record.enqueue(async () => {
      // Meanwhile the number may be unlinked, or the same pause stored.
      if (this.#record.current.status === "CREATED" || isStored()) return;
      if (!pause) return this.#record.move({ patch: { pause: null } });
      const isPaused = (this.#record.current.pause?.until ?? 0) > system.now();
      const data = { paused_until: new Date(pause.until).toISOString(), reason: pause.reason };
      return this.#record.move({ patch: { pause }, ...(!isPaused && { fact: { event: "instance.paused", data } }) });
    });
  }
}
