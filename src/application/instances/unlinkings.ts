import { within } from "../../base/timers.ts";
import type { Instance } from "../../domain/instances/instance.ts";
import { Refusal } from "../../domain/refusal.ts";
import { StorageUnavailable } from "../../ports/storage.ts";
import type { Dispatcher } from "../calls/dialling/dispatcher.ts";
import type { Context } from "../context.ts";
import { InstanceRecord, type InstanceRecordContext } from "./instance-record.ts";
import { linksAutomatically } from "./line-monitor.ts";
import type { Lines } from "./lines.ts";
import { instanceNotFound } from "./owned-instance.ts";

/** Dependencies of {@link Unlinkings}. */
export type UnlinkingsContext = Pick<Context, "log" | "storage" | "system" | "telephony" | "timings"> &
  InstanceRecordContext;

/** The reason stated by the event, and by the connection until another number is linked. */
const REASON = "unlinked by its owner";

/** One unlinking that is under way. */
interface Unlinking {
  /** Resolves when the network has been asked, or has not responded in time. */
  readonly whenNetworkAsked: Promise<void>;
  /** See `LineMonitor.unlinkNumber`. */
  readonly whenStored: Promise<boolean>;
}

/**
 * Unlinks numbers at their users' request. An instance stays linked, with its credentials, until the network has been
 * asked: a crash before that leaves it unchanged, and its user has to repeat the request.
 */
export class Unlinkings {
  readonly #context: UnlinkingsContext;
  readonly #lines: Lines;
  readonly #dispatcher: Pick<Dispatcher, "endLive">;
  /** Unlinkings in progress, by instance; concurrent requests wait for the same unlinking. */
  readonly #unlinkings = new Map<string, Unlinking>();

  constructor(context: UnlinkingsContext, lines: Lines, dispatcher: Pick<Dispatcher, "endLive">) {
    this.#context = context;
    this.#lines = lines;
    this.#dispatcher = dispatcher;
  }

  /**
   * Unlinks the number; resolves when that is stored.
   * @throws {Refusal} `linked_by_operator`; `instance_not_found`: it was deleted in the meantime; `stopping`
   * @throws {StorageUnavailable} the storage takes too long; the unlinking continues automatically
   */
  async unlink(instance: Instance): Promise<void> {
    const { system, timings, telephony } = this.#context;
    const network = telephony.get(instance.provider);
    if (network && linksAutomatically(network))
      throw new Refusal(
        "linked_by_operator",
        `"${instance.provider}" links its numbers automatically, so they cannot be unlinked; delete the instance instead`,
      );
    const { whenNetworkAsked, whenStored } = this.#unlinkings.get(instance.id) ?? this.#begin(instance);
    const timeoutError = () =>
      new StorageUnavailable("the unlinking could not be stored in time; it continues automatically");
    await within(Promise.race([whenNetworkAsked, whenStored]), {
      system,
      ms: timings.unlinkMs + timings.storeMs,
      timeoutError,
    });
    if (await within(whenStored, { system, ms: timings.storeMs, timeoutError })) return;
    if (!this.#lines.isStopping) throw instanceNotFound(instance.id);
    throw new Refusal("stopping", "the server is stopping: the number may still be linked; repeat the request");
  }

  #begin(instance: Instance): Unlinking {
    const { id } = instance;
    const { promise: whenNetworkAsked, resolve: onNetworkAsked } = Promise.withResolvers<void>();
    const whenStored = this.#run(instance, onNetworkAsked).finally(() => this.#unlinkings.delete(id));
    whenStored.catch((error: unknown) => {
      if (!(error instanceof StorageUnavailable || error instanceof Refusal))
        this.#context.log.error({ instance_id: id, err: error }, "the number could not be unlinked");
    });
    const unlinking: Unlinking = { whenNetworkAsked, whenStored };
    this.#unlinkings.set(id, unlinking);
    return unlinking;
  }

  async #run(instance: Instance, onNetworkAsked: () => void): Promise<boolean> {
    const { storage, telephony, log } = this.#context;
    const { id, provider } = instance;
    // The device of an unfinished link has secrets as well.
    if (instance.status === "CREATED" && !(await storage.instances.hasSecrets(id))) return true;
    if (!telephony.has(provider)) {
      log.warn({ instance_id: id, provider }, "the network is not mounted, so the device stays linked there");
      await this.#store(instance);
      return true;
    }
    const [isStored] = await Promise.all([
      this.#lines.monitorOf(instance).unlinkNumber(REASON, onNetworkAsked),
      this.#dispatcher.endLive(id, "instance_lost", "its number was unlinked during the call"),
    ]);
    return isStored;
  }

  /** Stores the unlinking of an instance that has no line. */
  async #store(instance: Instance): Promise<void> {
    const fact = { event: "instance.unlinked", data: { reason: REASON } } as const;
    const record = new InstanceRecord(this.#context, instance);
    await record.writeInTurn(() => record.move({ input: "unlink", patch: { phone: null }, fact }));
    await this.#context.storage.instances.eraseCredentials(instance.id);
  }
}
