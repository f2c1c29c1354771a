import type { Webhook } from "../../domain/webhooks/webhook.ts";
import type { Context } from "../context.ts";
import { Endpoint, type EndpointContext } from "./endpoint.ts";

type EndpointsContext = Pick<Context, "log" | "purgeClock" | "storage" | "system"> & EndpointContext;

/** Interval between checks for events that were stored without a notification, ms. */
const SWEEP_MS = 30_000;
/** Retention time of ended deliveries, ms. */
const RETENTION_MS = 7 * 24 * 3_600_000;
const PURGE_INTERVAL_MS = 3_600_000;
/** Maximum time that attempts may continue when the server stops, ms. */
const STOP_MS = 1_000;

/** The endpoints of all webhooks that were enabled at the start or have been enabled since. */
export class Endpoints {
  readonly #context: EndpointsContext;
  readonly #endpoints = new Map<string, Endpoint>();
  #cancelSweep: (() => void) | undefined;
  #purgedAt = -Infinity;
  #isStarted = false;
  #isStopped = false;

  constructor(context: EndpointsContext) {
    this.#context = context;
  }

  /** Starts delivering. @throws {StorageUnavailable} */
  async start(): Promise<void> {
    const enabledWebhooks = await this.#context.storage.webhooks.enabled();
    this.#isStarted = true;
    for (const webhook of enabledWebhooks) this.update(webhook);
  }

  /** Updates the endpoint of a webhook that was created or changed. */
  update(webhook: Webhook): void {
    if (this.#isStopped || !this.#isStarted) return;
    const currentEndpoint = this.#endpoints.get(webhook.id);
    if (currentEndpoint) {
      currentEndpoint.update(webhook);
      return;
    }
    if (webhook.disabledReason !== null) return;
    const endpoint = new Endpoint(this.#context, webhook);
    this.#endpoints.set(webhook.id, endpoint);
    endpoint.wake();
    this.#sweepLater();
  }

  /** Removes the endpoint of a webhook that was deleted. */
  remove(webhookId: string): void {
    void this.#endpoints.get(webhookId)?.stop(0);
    this.#endpoints.delete(webhookId);
  }

  /** Wakes the endpoint after a delivery has been stored. */
  wake(webhookId: string): void {
    this.#endpoints.get(webhookId)?.wake();
  }

  /** Starts no further attempts. Running attempts may finish within a second; the rest waits for the next start. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelSweep?.();
    await Promise.all([...this.#endpoints.values()].map((endpoint) => endpoint.stop(STOP_MS)));
  }

  /** Schedules the next sweep, if there are webhooks. */
  #sweepLater(): void {
    if (this.#cancelSweep || this.#isStopped || this.#endpoints.size === 0) return;
    this.#cancelSweep = this.#context.system.after(SWEEP_MS, async () => {
      await this.#sweep().catch((error: unknown) =>
        this.#context.log.warn({ err: error }, "the webhooks could not be checked"),
      );
      this.#cancelSweep = undefined;
      this.#sweepLater();
    });
  }

  async #sweep(): Promise<void> {
    const { storage, system, purgeClock } = this.#context;
    for (const id of await storage.webhooks.behind()) this.#endpoints.get(id)?.reload();
    if (system.monotonic() - this.#purgedAt < PURGE_INTERVAL_MS) return;
    this.#purgedAt = system.monotonic();
    await storage.webhooks.forgetDeliveries(purgeClock.now() - RETENTION_MS);
  }
}
