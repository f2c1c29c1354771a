import { nextState } from "../../../base/state-machine.ts";
import { INSTANCE_TRANSITIONS, type Instance } from "../../../domain/instances/instance.ts";
import { Refusal } from "../../../domain/refusal.ts";
import { StorageUnavailable } from "../../../ports/storage.ts";
import type { Context } from "../../context.ts";
import type { Lines } from "../../instances/lines.ts";
import { instanceNotFound } from "../../instances/owned-instance.ts";
import { retryUntilStored } from "../../retry-until-stored.ts";
import type { Terminations } from "../terminations.ts";
import { Deletion } from "./running-deletion.ts";

type DeletionsContext = Pick<
  Context,
  "events" | "log" | "purgeClock" | "shutdownSignal" | "storage" | "system" | "timings"
>;

/** Maximum number of earlier processes' deletions that are finished at the same time. */
const BATCH_SIZE = 20;
/** Maximum number of finished deletions that are remembered, for a request that is repeated after a 503. */
const MAX_REMEMBERED = 1_000;

/**
 * Deletes instances. The intent is stored first: from then on, the instance is reported as not found. Then its calls
 * are ended, its device is unlinked, its credentials are erased and its line is closed. A deletion interrupted by a
 * fault continues automatically when the storage is back or, after a crash, in the next process.
 */
export class Deletions {
  readonly #context: DeletionsContext;
  readonly #lines: Lines;
  readonly #terminations: Pick<Terminations, "endCallsOf">;
  /** Deletions that are under way, or finished while no request waited, by instance. */
  readonly #deletions = new Map<string, Deletion>();
  #isStopping = false;

  constructor(context: DeletionsContext, lines: Lines, terminations: Pick<Terminations, "endCallsOf">) {
    this.#context = context;
    this.#lines = lines;
    this.#terminations = terminations;
  }

  /** Finishes the deletions that earlier processes have left; does not wait for them. */
  start(): void {
    this.#resume().catch((error: unknown) => {
      if (!this.#isStopping) this.#context.log.error({ err: error }, "unfinished deletions could not be looked up");
    });
  }

  /** Starts no further steps; the next start finishes the rest. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Resolves when no deletion is under way. */
  async whenIdle(): Promise<void> {
    await Promise.allSettled([...this.#deletions.values()].map((deletion) => deletion.whenDone));
  }

  /** True if the deletion of this instance is under way. */
  isUnderWay(instanceId: string): boolean {
    return this.#deletions.get(instanceId)?.isFinished === false;
  }

  /**
   * Deletes the instance; only one of several concurrent requests waits until the deletion is complete.
   * @throws {Refusal} `instance_not_found`: another request has deleted it; `stopping`
   * @throws {StorageUnavailable} the storage takes too long; the deletion continues automatically
   */
  async delete(instance: Instance): Promise<void> {
    const { id } = instance;
    if (!this.#deletions.has(id) && instance.erasedAt !== null) throw instanceNotFound(id);
    const deletion = this.#deletions.get(id) ?? this.#begin(instance);
    if (!(await deletion.ask())) throw instanceNotFound(id);
    if (this.#deletions.get(id) === deletion) this.#deletions.delete(id);
  }

  async #resume(): Promise<void> {
    const { halfDeleted } = this.#context.storage.instances;
    for (let after: string | undefined; ; ) {
      const page = await retryUntilStored(this.#context, "the list of unfinished deletions", () =>
        halfDeleted({ limit: BATCH_SIZE, after }),
      );
      const deletions = page.map((instance) => this.#deletions.get(instance.id) ?? this.#begin(instance));
      await Promise.allSettled(deletions.map((deletion) => deletion.whenDone));
      after = page.at(-1)?.id;
      if (page.length < BATCH_SIZE || this.#isStopping) return;
    }
  }

  #begin(instance: Instance): Deletion {
    const deletion: Deletion = new Deletion(this.#context, (self) => this.#run(instance, self));
    this.#deletions.set(instance.id, deletion);
    deletion.whenDone.then(
      () => this.#forgetOldest(),
      (error: unknown) => {
        this.#deletions.delete(instance.id); // a repeated request starts again
        if (this.#isStopping || error instanceof Refusal) return;
        this.#context.log.error({ instance_id: instance.id, err: error }, "the instance could not be deleted");
      },
    );
    return deletion;
  }

  #forgetOldest(): void {
    const finishedDeletions = [...this.#deletions].filter(([, deletion]) => deletion.isFinished);
    for (const [id] of finishedDeletions.slice(0, -MAX_REMEMBERED)) this.#deletions.delete(id);
  }

  async #run(instance: Instance, deletion: Deletion): Promise<void> {
    const { id } = instance;
    const persist = <T>(record: string, write: () => Promise<T>): Promise<T> => {
      this.#assertRunning();
      return deletion.awaitWrite(retryUntilStored(this.#context, `${record} of instance ${id}`, write));
    };
    await persist("the deletion", this.#storeIntent(instance));
    await persist("the end of the calls", () => this.#terminations.endCallsOf(id, "instance_deleted"));
    const hasCredentials = await persist("the credentials", () => this.#context.storage.instances.hasSecrets(id));
    await this.#unlink(instance, deletion, hasCredentials);
    await persist("the erasure", () => this.#erase(id));
    await this.#lines.drop(id);
  }

  /** Stores that the instance is to be deleted, whatever else is written to it at the same time. */
  #storeIntent(instance: Instance): () => Promise<void> {
    const { storage, system, events } = this.#context;
    const { id, userId } = instance;
    let current = instance;
    return async () => {
      for (;;) {
        const status = nextState(INSTANCE_TRANSITIONS, current.status, "delete");
        if (!status) {
          // The deletion may have been finished in the meantime.
          const latest = await storage.instances.get(id);
          if (!latest || latest.erasedAt !== null) throw instanceNotFound(id);
          return;
        }
        const event = events.event({ event: "instance.deleted", data: {} }, { callId: null, instanceId: id, userId });
        const patch = { status, phone: null, updatedAt: system.now() };
        if (await storage.instances.update(id, current.version, patch, [event])) return events.publish([event]);
        const latest = await storage.instances.get(id);
        if (!latest) throw instanceNotFound(id);
        current = latest;
      }
    };
  }

  /** Unlinks the device. A network that cannot do that in time does not hold up the deletion. */
  async #unlink(instance: Instance, deletion: Deletion, hasCredentials: boolean): Promise<void> {
    const { log } = this.#context;
    try {
      const monitor = this.#lines.find(instance.id) ?? (hasCredentials ? this.#lines.monitorOf(instance) : undefined);
      const unlink = async () => {
        try {
          await monitor?.unlink({ open: hasCredentials });
        } catch (error) {
          this.#assertRunning();
          if (error instanceof StorageUnavailable) deletion.waitForStorage(); // the line could not read its credentials
          throw error;
        }
      };
      await retryUntilStored(this.#context, `the unlinking of instance ${instance.id}`, unlink);
      deletion.storageResponded();
    } catch (error) {
      this.#assertRunning();
      log.warn(
        { instance_id: instance.id, err: error },
        "the device of a deleted instance could not be unlinked; its credentials are erased anyway",
      );
    }
  }

  async #erase(id: string): Promise<void> {
    const { storage, purgeClock } = this.#context;
    for (;;) {
      const instance = await storage.instances.get(id);
      if (!instance || instance.erasedAt !== null) return;
      if (await storage.instances.update(id, instance.version, { erasedAt: purgeClock.now() }, [])) return;
    }
  }

  #assertRunning(): void {
    if (this.#isStopping) throw new Refusal("stopping", "the server is stopping; the next start finishes the deletion");
  }
}
