import type { Pause } from "../../domain/dialling-rules/number-protection.ts";
import type { Instance, InstanceStatus } from "../../domain/instances/instance.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { Page } from "../../ports/storage.ts";
import type { Context } from "../context.ts";
import { storedTime } from "../stored-times.ts";
import type { Connection } from "../use-cases.ts";
import { LineMonitor, type LineMonitorContext, type LineWatcher, linksAutomatically } from "./line-monitor.ts";

type LinesContext = Pick<Context, "log" | "speech" | "storage" | "system" | "telephony"> & LineMonitorContext;

const PAGE_SIZE = 100;
/** Maximum number of lines with waiting calls that open first after a start; the rest open with the others. */
const MAX_FIRST_LINES = 500;

/** The lines of this process, by instance. */
export class Lines {
  readonly #context: LinesContext;
  readonly #watcher: LineWatcher;
  readonly #monitors = new Map<string, LineMonitor>();
  /** Ids of the instances whose lines `start` has already opened. */
  readonly #resumedIds = new Set<string>();
  #isWarmedUp = false;
  #stopPromise: Promise<void> | undefined;

  constructor(context: LinesContext, watcher: LineWatcher) {
    this.#context = context;
    this.#watcher = watcher;
  }

  /** Connects every number that needs no QR code, those with waiting calls first; does not wait for them. */
  async start(): Promise<void> {
    const { storage, telephony } = this.#context;
    for (const instance of await storage.instances.withWaitingCalls(MAX_FIRST_LINES)) this.#resume(instance);
    await this.#openAll((page) => storage.instances.linked(page));
    await this.#openAll((page) => storage.instances.halfLinked(page));
    for (const network of telephony.values())
      if (linksAutomatically(network)) await this.#openAll((page) => storage.instances.unlinked(network.name, page));
    this.#resumedIds.clear();
  }

  #resume(instance: Instance): void {
    if (this.#resumedIds.has(instance.id) || !this.#context.telephony.has(instance.provider)) return;
    this.#resumedIds.add(instance.id);
    void this.monitorOf(instance).resume();
  }

  async #openAll(list: (page: Page) => Promise<Instance[]>): Promise<void> {
    let after: string | undefined;
    for (;;) {
      const page = await list({ limit: PAGE_SIZE, after });
      for (const instance of page) this.#resume(instance);
      after = page.at(-1)?.id;
      if (page.length < PAGE_SIZE) return;
    }
  }

  /**
   * The monitor of an instance's line.
   * @throws {Refusal} `qr_unavailable`: its provider is not mounted on this server; `stopping`
   */
  monitorOf(instance: Instance): LineMonitor {
    const openMonitor = this.#monitors.get(instance.id);
    if (openMonitor) return openMonitor;
    if (this.#stopPromise) throw new Refusal("stopping", "the server is stopping: it opens no more lines");
    const telephony = this.#context.telephony.get(instance.provider);
    if (!telephony) {
      const providers = [...this.#context.telephony.keys()].join(", ");
      throw new Refusal("qr_unavailable", `no telephony "${instance.provider}" is mounted here, only: ${providers}`);
    }
    const monitor = new LineMonitor(this.#context, instance, telephony, this.#watcher);
    this.#monitors.set(instance.id, monitor);
    this.#warmUpSpeech();
    return monitor;
  }

  /** Loads the speech engines when the first line opens: without a line, no text is spoken. */
  #warmUpSpeech(): void {
    if (this.#isWarmedUp) return;
    this.#isWarmedUp = true;
    const { speech, log } = this.#context;
    void speech
      .warmUp?.()
      .catch((error: unknown) => log.warn({ err: error }, "a speech engine could not be warmed up"));
  }

  get isStopping(): boolean {
    return this.#stopPromise !== undefined;
  }

  find(instanceId: string): LineMonitor | undefined {
    return this.#monitors.get(instanceId);
  }

  /** Number of lines that can dial now. */
  get dialableCount(): number {
    return this.dialableIds.length;
  }

  /** The instances whose lines can dial now. */
  get dialableIds(): readonly string[] {
    return [...this.#monitors].filter(([, monitor]) => monitor.canDial).map(([id]) => id);
  }

  /** The status to show: a stored `ACTIVE` that no probe of this process has confirmed yet is `CONFIGURED`. */
  status(instance: Instance): InstanceStatus {
    if (instance.status !== "ACTIVE" || this.#monitors.get(instance.id)?.isUp) return instance.status;
    return "CONFIGURED";
  }

  connection(instance: Instance): Connection {
    const pause = this.#numberPause(instance) ?? this.#linePause(instance.id);
    return { ...this.#connection(instance), ...(pause && { pause }) };
  }

  /** The pause of the instance's number, while it lasts. */
  #numberPause({ pause }: Instance): Pause | undefined {
    const now = this.#context.system.now();
    const until = storedTime("instances.pause", pause?.until ?? 0, now);
    return pause && until > now ? { ...pause, until } : undefined;
  }

  /** The time for which the line takes no call, because the network has asked for a pause or is at its limit. */
  #linePause(instanceId: string): Pause | undefined {
    const { system } = this.#context;
    const pause = this.#monitors.get(instanceId)?.number.linePause;
    const waitMs = (pause?.until ?? 0) - system.monotonic();
    return pause && waitMs > 0 ? { until: Math.ceil(system.now() + waitMs), reason: pause.reason } : undefined;
  }

  #connection(instance: Instance): Connection {
    const monitor = this.#monitors.get(instance.id);
    if (monitor) return monitor.connection;
    const { provider, phone, status } = instance;
    const unknownFields = { lastSeenAt: null, condition: null, provider };
    if (status === "CREATED")
      return { state: "unlinked", phone: null, reason: "no phone number is linked", ...unknownFields };
    const isMounted = this.#context.telephony.has(provider);
    const reason = isMounted ? "the line is not open" : `no telephony "${provider}" is mounted`;
    return { state: "offline", phone, reason, ...unknownFields };
  }

  /** Closes one line permanently. */
  async drop(instanceId: string): Promise<void> {
    const monitor = this.#monitors.get(instanceId);
    this.#monitors.delete(instanceId);
    await monitor?.close();
  }

  /** Closes all lines; resolves when they are closed and their reports are stored. Idempotent. */
  stop(): Promise<void> {
    this.#stopPromise ??= this.#closeAll();
    return this.#stopPromise;
  }

  async #closeAll(): Promise<void> {
    const monitors = [...this.#monitors.values()];
    this.#monitors.clear();
    await Promise.all(monitors.map((monitor) => monitor.close().then(() => monitor.whenStored())));
  }
}
