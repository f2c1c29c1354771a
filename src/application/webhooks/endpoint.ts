import type { NumberedEvent } from "../../domain/events.ts";
import {
  decideEndpoint,
  type EndpointEffect,
  type EndpointInput,
  type EndpointState,
  isDelivering,
} from "../../domain/webhooks/endpoint-flow.ts";
import { type Webhook, type WebhookDelivery, wantsEvent } from "../../domain/webhooks/webhook.ts";
import {
  type AttemptResult,
  afterAttempt,
  isGone,
  MAX_RETRY_TIME_MS,
  maxRetryPauseMs,
} from "../../domain/webhooks/webhook-retries.ts";
import type { Context } from "../context.ts";
import { retryUntilStored } from "../retry-until-stored.ts";
import { storedTime } from "../stored-times.ts";
import { attempt } from "./attempt.ts";
import { newDelivery } from "./new-delivery.ts";

/** Dependencies of {@link Endpoint}. */
export type EndpointContext = Pick<
  Context,
  "eventJson" | "events" | "ids" | "lease" | "log" | "shutdownSignal" | "storage" | "system" | "vault" | "webhookSender"
>;

/** Maximum number of attempts to one endpoint at the same time: a dead endpoint cannot occupy more. */
export const MAX_CONCURRENT_ATTEMPTS = 16;
/** Maximum number of events planned in one transaction. */
const BATCH_SIZE = 100;
/** Pause after the storage or the lease was unavailable, ms. */
const RETRY_MS = 1_000;

/**
 * Delivers the events of one webhook. It follows the user's log from the webhook's position, stores a delivery for each
 * event that the webhook subscribes to, and attempts due deliveries, at most {@link MAX_CONCURRENT_ATTEMPTS} at a time.
 * While that many attempts are under way, it stops planning: the events wait in the log.
 */
export class Endpoint {
  readonly #context: EndpointContext;
  readonly #attemptScope = new AbortController();
  /** Attempts under way, by the id of their delivery. */
  readonly #attempts = new Map<string, Promise<void>>();
  #webhook: Webhook;
  #state: EndpointState = "idle";
  #mustReload = false;
  readonly #unsubscribe: () => void;
  #cancelTimer: () => void = () => {};

  constructor(context: EndpointContext, webhook: Webhook) {
    this.#context = context;
    this.#webhook = webhook;
    this.#unsubscribe = context.events.subscribeToUser(webhook.userId, {
      onEvent: () => this.wake(),
      onClose: () => {},
    });
  }

  /** Applies a change that the user made to the webhook. */
  update(webhook: Webhook): void {
    this.#webhook = webhook;
    this.#apply(webhook.disabledReason === null ? "enable" : "disable");
  }

  /** Looks for events and for due deliveries. */
  wake(): void {
    this.#apply("wake");
  }

  /**
   * Reloads the webhook before its next events: its cached state may be stale, for example after a failover to a
   * replica.
   */
  reload(): void {
    this.#mustReload = true;
    this.wake();
  }

  /**
   * Starts no further attempts; those under way may continue for `ms`, then they are aborted and do not count.
   * Idempotent.
   */
  async stop(ms: number): Promise<void> {
    this.#apply("stop");
    if (this.#attempts.size === 0) return;
    const cancel = this.#context.system.after(ms, () => this.#attemptScope.abort(new Error("the server is stopping")));
    await Promise.allSettled(this.#attempts.values());
    cancel();
  }

  #apply(input: EndpointInput): void {
    const { state, effects } = decideEndpoint(this.#state, input);
    this.#state = state;
    for (const effect of effects) this.#carryOut(effect);
  }

  #carryOut(effect: EndpointEffect): void {
    switch (effect) {
      case "begin_round":
        void this.#runRound();
        break;
      case "wake_later":
        this.#wakeIn(RETRY_MS);
        break;
      case "end":
        this.#unsubscribe();
        this.#cancelTimer();
        break;
    }
  }

  get #isDelivering(): boolean {
    return isDelivering(this.#state);
  }

  async #runRound(): Promise<void> {
    this.#cancelTimer();
    if (!this.#context.lease.canDial) return this.#apply("postpone");
    try {
      await this.#deliver();
    } catch (error) {
      if (this.#isDelivering)
        this.#context.log.warn({ err: error, webhook_id: this.#webhook.id }, "webhook deliveries were postponed");
      return this.#apply("postpone");
    }
    this.#apply("finish");
  }

  /** Attempts due deliveries, then plans more while there is room. */
  async #deliver(): Promise<void> {
    const { storage, system } = this.#context;
    const pendingDeliveries = await storage.webhooks.pending(
      this.#webhook.id,
      MAX_CONCURRENT_ATTEMPTS + this.#attempts.size,
    );
    const now = system.now();
    let next = Infinity;
    for (const { delivery, event } of pendingDeliveries) {
      const at = await this.#nextAttemptAt(delivery, now);
      if (at <= now) this.#start(delivery, event);
      else next = Math.min(next, at);
    }
    if (next < Infinity) this.#wakeIn(next - now);
    while (this.#attempts.size < MAX_CONCURRENT_ATTEMPTS && this.#isDelivering) if (!(await this.#plan())) return;
  }

  /**
   * Time at which a delivery is due. A time that only a fast clock can have written is replaced: it might be far in the
   * future.
   */
  async #nextAttemptAt(delivery: WebhookDelivery, now: number): Promise<number> {
    const { id, attempts, nextAttemptAt } = delivery;
    if (nextAttemptAt === null) return now;
    const at = storedTime("webhook_deliveries.next_attempt_at", nextAttemptAt, now, maxRetryPauseMs(attempts));
    if (at < nextAttemptAt && !this.#attempts.has(id))
      await this.#context.storage.webhooks.attempted(id, { ...delivery, nextAttemptAt: Math.round(at) });
    return at;
  }

  /** Plans one batch. Returns true if there may be more. */
  async #plan(): Promise<boolean> {
    const { storage } = this.#context;
    if (this.#mustReload) {
      this.#mustReload = false;
      if (!(await this.#reload())) return false;
    }
    const { id, userId, position } = this.#webhook;
    const events = await storage.events.ofUser(userId, {}, { after: position, limit: BATCH_SIZE });
    const lastEvent = events.at(-1);
    if (!lastEvent) return false;
    const plannedDeliveries = events
      .filter(({ type }) => wantsEvent(this.#webhook, type))
      .map((event) => ({
        event,
        delivery: newDelivery(this.#context, { webhookId: id, eventId: event.id, eventType: event.type, body: null }),
      }));
    const deliveries = plannedDeliveries.map(({ delivery }) => delivery);
    if (!(await storage.webhooks.plan(id, position, lastEvent.position, deliveries))) return this.#reload();
    this.#webhook = { ...this.#webhook, position: lastEvent.position };
    for (const { delivery, event } of plannedDeliveries) this.#start(delivery, event);
    return events.length === BATCH_SIZE;
  }

  /** Reloads the webhook, which another writer has changed. Returns true if it still exists. */
  async #reload(): Promise<boolean> {
    const storedWebhook = await this.#context.storage.webhooks.get(this.#webhook.id);
    if (storedWebhook) this.#load(storedWebhook);
    else this.#apply("stop");
    return storedWebhook !== undefined;
  }

  #load(webhook: Webhook): void {
    this.#webhook = webhook;
    const isEnabled = webhook.disabledReason === null;
    if (isEnabled !== this.#isDelivering) this.#apply(isEnabled ? "enable" : "disable");
  }

  /** Starts an attempt, unless it is already running or there is no room; the end of another attempt makes room. */
  #start(delivery: WebhookDelivery, event: NumberedEvent | undefined): void {
    if (!this.#isDelivering || this.#attempts.has(delivery.id) || this.#attempts.size >= MAX_CONCURRENT_ATTEMPTS)
      return;
    const attemptPromise = this.#attempt(delivery, event)
      .catch((error: unknown) => {
        if (this.#state !== "stopped")
          this.#context.log.warn({ err: error, webhook_id: delivery.webhookId }, "the result of a delivery was lost");
      })
      .finally(() => {
        this.#attempts.delete(delivery.id);
        this.wake();
      });
    this.#attempts.set(delivery.id, attemptPromise);
  }

  async #attempt(delivery: WebhookDelivery, event: NumberedEvent | undefined): Promise<void> {
    const { storage, system, eventJson } = this.#context;
    const body = delivery.body ?? (event && eventJson(event));
    const { id, webhookId } = delivery;
    if (body === undefined) {
      const result = afterAttempt(delivery, { error: "the event was deleted before it could be delivered" }, 0, 0);
      const failure = { ...result, attempts: delivery.attempts, status: "failed", nextAttemptAt: null } as const;
      const { lastAttemptAt, lastStatus } = delivery;
      await this.#persist(() => storage.webhooks.attempted(id, { ...failure, lastAttemptAt, lastStatus }));
      return;
    }
    const result = await attempt(
      this.#context,
      this.#webhook,
      { id: delivery.eventId, body },
      this.#attemptScope.signal,
    );
    const deliveryPatch = afterAttempt(delivery, result, system.now(), this.#chance());
    await this.#persist(() => storage.webhooks.attempted(id, deliveryPatch));
    if (deliveryPatch.status !== "failed") return;
    const mustDisable =
      isGone(result) ||
      !(await this.#persist(() => storage.webhooks.deliveredSince(webhookId, this.#beganAt(delivery))));
    if (mustDisable) await this.#disable(result);
  }

  /**
   * Time at which a failed delivery began, ms since 1970-01-01 UTC, or an earlier time if its `createdAt` came from a
   * fast clock.
   */
  #beganAt({ createdAt }: WebhookDelivery): number {
    const now = this.#context.system.now();
    const isReliable = storedTime("webhook_deliveries.created_at", createdAt, now) === createdAt;
    return isReliable ? createdAt : now - MAX_RETRY_TIME_MS;
  }

  /** Disables the webhook: its endpoint no longer exists, or has accepted no delivery for days. */
  async #disable(result: AttemptResult): Promise<void> {
    const { storage, system, log } = this.#context;
    const disabledReason = isGone(result) ? "gone" : "failing";
    while (this.#isDelivering) {
      const { id, version } = this.#webhook;
      const patch = { disabledReason, updatedAt: system.now() } as const;
      const updatedWebhook = await this.#persist(() => storage.webhooks.update(id, version, patch));
      if (!updatedWebhook && !(await this.#reload())) return;
      if (!updatedWebhook) continue; // its user has changed it in the meantime
      this.#load(updatedWebhook);
      log.warn({ webhook_id: id, reason: disabledReason }, "a webhook was disabled");
    }
  }

  #persist<T>(write: () => Promise<T>): Promise<T> {
    return retryUntilStored(this.#context, "a webhook delivery", write);
  }

  #wakeIn(ms: number): void {
    this.#cancelTimer();
    if (this.#state !== "stopped") this.#cancelTimer = this.#context.system.after(ms, () => this.wake());
  }

  /** A random number from 0 to 1. */
  #chance(): number {
    const bytes = new Uint8Array(2);
    this.#context.system.random(bytes);
    return ((bytes[0] ?? 0) * 256 + (bytes[1] ?? 0)) / 0xffff;
  }
}
