import { nextState } from "../../base/state-machine.ts";
import type { Fact } from "../../domain/events.ts";
import { INSTANCE_TRANSITIONS, type Instance, type InstanceInput } from "../../domain/instances/instance.ts";
import type { InstancePatch } from "../../ports/storage.ts";
import type { Context } from "../context.ts";
import { retryUntilStored } from "../retry-until-stored.ts";

/** Dependencies of {@link InstanceRecord}. */
export type InstanceRecordContext = Pick<Context, "events" | "log" | "shutdownSignal" | "storage" | "system">;

/** A move in the instance's state table, with the changes stored along with it. */
export interface InstanceMove {
  /** The new status. Default: the status does not change. */
  readonly input?: InstanceInput;
  readonly patch?: InstancePatch;
  /** The event to store. Default: no event. */
  readonly fact?: Fact;
  /** Sealed credentials; stored even if the table has no such move. */
  readonly sealedCredentials?: Uint8Array | undefined;
}

/** An instance as last written. Its writes run sequentially, however long the storage takes. */
export class InstanceRecord {
  readonly #context: InstanceRecordContext;
  #instance: Instance;
  #writes: Promise<void> = Promise.resolve();

  constructor(context: InstanceRecordContext, instance: Instance) {
    this.#context = context;
    this.#instance = instance;
  }

  get instance(): Instance {
    return this.#instance;
  }

  /** Runs a write after those before it; a failure is logged. */
  enqueue(write: () => Promise<void>): void {
    this.writeInTurn(write).catch(() => {}); // already logged
  }

  /** Runs a write after those before it, and rejects with its failure. */
  writeInTurn(write: () => Promise<void>): Promise<void> {
    const result = this.#writes.then(write);
    this.#writes = result.catch((error: unknown) => {
      this.#context.log.error({ instance_id: this.#instance.id, err: error }, "a line's report could not be stored");
    });
    return result;
  }

  /** Waits until all reports are stored. */
  async whenStored(): Promise<void> {
    await this.#writes;
  }

  /**
   * Writes a move; has no effect if the table has no such move and there are no credentials to store. Call it within
   * {@link writeInTurn}.
   */
  async move({ input, patch, fact, sealedCredentials }: InstanceMove): Promise<void> {
    const { storage, events, system } = this.#context;
    for (;;) {
      const current = this.#instance;
      const status = input && nextState(INSTANCE_TRANSITIONS, current.status, input);
      const isWritten = status || (current.status !== "DELETED" && (sealedCredentials || !input));
      if (!isWritten) return;
      const now = system.now();
      const link = input === "link" ? { linkedAt: now } : input === "unlink" && { linkedAt: null, pause: null };
      // A status is written only if it changes: writing CREATED erases the secrets of a link in progress.
      const fields = { ...patch, ...link, ...(status && { status }), updatedAt: now };
      const subject = { callId: null, instanceId: current.id, userId: current.userId };
      const newEvents = (status || !input) && fact ? [events.event(fact, subject)] : [];
      const next = await retryUntilStored(this.#context, `the write of instance ${current.id}`, () =>
        storage.instances.update(current.id, current.version, fields, newEvents, sealedCredentials),
      );
      if (next) {
        this.#instance = next;
        return events.publish(newEvents);
      }
      const latest = await retryUntilStored(this.#context, `the read of instance ${current.id}`, () =>
        storage.instances.get(current.id),
      );
      if (!latest) return;
      this.#instance = latest;
    }
  }
}
