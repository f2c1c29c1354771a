import type { Instance, InstanceStatus } from "../domain/instance.ts";
import { Refusal } from "../domain/refusal.ts";
import type { Telephony } from "../ports/telephony.ts";
import type { Context } from "./context.ts";
import { LineKeeper, type LineWatcher, linksByItself } from "./line-keeper.ts";
import type { Connection } from "./use-cases.ts";

const OPEN_AT_ONCE = 100;

/** The lines of this process, by instance. */
export class Lines {
  readonly #context: Context;
  readonly #watcher: LineWatcher;
  readonly #keepers = new Map<string, LineKeeper>();

  constructor(context: Context, watcher: LineWatcher) {
    this.#context = context;
    this.#watcher = watcher;
  }

  /** Connects every number that needs no QR code; does not wait for them. */
  async start(): Promise<void> {
    let after: string | undefined;
    for (;;) {
      const page = await this.#context.storage.instances.linked({ limit: OPEN_AT_ONCE, after });
      for (const instance of page) if (this.#context.telephony.has(instance.provider)) void this.of(instance).probe();
      after = page.at(-1)?.id;
      if (page.length < OPEN_AT_ONCE) break;
    }
    for (const network of this.#context.telephony.values()) if (linksByItself(network)) await this.#linkAllOf(network);
  }

  /** Goes on with instances whose network links by itself and could not yet. */
  async #linkAllOf({ name }: Telephony): Promise<void> {
    let after: string | undefined;
    for (;;) {
      const page = await this.#context.storage.instances.unlinked(name, { limit: OPEN_AT_ONCE, after });
      for (const instance of page) void this.of(instance).probe();
      after = page.at(-1)?.id;
      if (page.length < OPEN_AT_ONCE) return;
    }
  }

  /**
   * The keeper of an instance's line.
   * @throws {Refusal} `qr_unavailable`: its provider is not mounted on this server
   */
  of(instance: Instance): LineKeeper {
    const known = this.#keepers.get(instance.id);
    if (known) return known;
    const telephony = this.#context.telephony.get(instance.provider);
    if (!telephony) {
      const mounted = [...this.#context.telephony.keys()].join(", ");
      throw new Refusal("qr_unavailable", `no telephony "${instance.provider}" is mounted here, only: ${mounted}`);
    }
    const keeper = new LineKeeper(this.#context, instance, telephony, this.#watcher);
    this.#keepers.set(instance.id, keeper);
    return keeper;
  }

  find(instanceId: string): LineKeeper | undefined {
    return this.#keepers.get(instanceId);
  }

  /** How many lines can dial now. */
  get dialable(): number {
    let count = 0;
    for (const keeper of this.#keepers.values()) if (keeper.canDial) count++;
    return count;
  }

  /** The status to show: a stored `ACTIVE` that no probe of this process has confirmed yet is `CONFIGURED`. */
  status(instance: Instance): InstanceStatus {
    if (instance.status !== "ACTIVE" || this.#keepers.get(instance.id)?.up) return instance.status;
    return "CONFIGURED";
  }

  connection(instance: Instance): Connection {
    const keeper = this.#keepers.get(instance.id);
    if (keeper) return keeper.connection;
    const { provider, phone, status } = instance;
    if (status === "CREATED")
      return { state: "unlinked", phone: null, lastSeenAt: null, reason: "no phone number is linked", provider };
    return { state: "offline", phone, lastSeenAt: null, reason: `no telephony "${provider}" is mounted`, provider };
  }

  /** Closes one line for good. */
  async drop(instance: Instance): Promise<void> {
    const keeper = this.#keepers.get(instance.id);
    this.#keepers.delete(instance.id);
    await keeper?.close({ unlink: true });
  }

  async stop(): Promise<void> {
    const keepers = [...this.#keepers.values()];
    this.#keepers.clear();
    await Promise.all(keepers.map((keeper) => keeper.close()));
  }
}
