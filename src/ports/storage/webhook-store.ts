import type { NumberedEvent } from "../../domain/events.ts";
import type { DeliveryStatus, Webhook, WebhookDelivery } from "../../domain/webhooks/webhook.ts";
import type { AttemptedDelivery } from "../../domain/webhooks/webhook-retries.ts";
import type { Page } from "./list-page.ts";

/** Fields of a webhook that an update changes. */
export type WebhookPatch = Partial<Omit<Webhook, "id" | "userId" | "position" | "createdAt" | "version">>;

/** A delivery with the event that it carries. */
export interface DueDelivery {
  readonly delivery: WebhookDelivery;
  /** Undefined for a test, and if the event was deleted. */
  readonly event: NumberedEvent | undefined;
}

/**
 * Endpoints of users, and the deliveries to them. The log of events is the outbox: each webhook has a position in it.
 */
export interface WebhookStore {
  /**
   * Stores a webhook at the current end of its user's log, whatever position it names.
   * @param maxWebhooks maximum number of webhooks of the user
   * @returns the stored webhook; undefined if the user is at that limit
   */
  insert(webhook: Webhook, maxWebhooks: number): Promise<Webhook | undefined>;
  get(id: string): Promise<Webhook | undefined>;
  /** The webhooks of a user, newest first. */
  list(userId: string, page: Page): Promise<Webhook[]>;
  /** All webhooks that are not disabled, of every user. */
  enabled(): Promise<Webhook[]>;
  /**
   * Changes a webhook; a webhook that is enabled continues at the current end of the log.
   * @returns undefined if its version is not `version`; then no row was written
   */
  update(id: string, version: number, patch: WebhookPatch): Promise<Webhook | undefined>;
  /** Deletes a webhook and its deliveries. Returns true if the webhook existed. */
  delete(id: string): Promise<boolean>;
  /** The ids of enabled webhooks whose position is before the end of their user's log. */
  behind(): Promise<string[]>;
  /**
   * Stores deliveries and moves the webhook from the position `from` to `to`, together.
   * @returns false if it is not at `from`, or not enabled; then no row was written
   */
  plan(id: string, from: number, to: number, deliveries: readonly WebhookDelivery[]): Promise<boolean>;
  /**
   * Stores a delivery outside of the log: a test or a replay. Deletes the webhook's oldest ended tests and replays
   * beyond a limit.
   * @param maxDeliveries approximate maximum number of the webhook's pending tests and replays, and of its ended ones
   * @returns false if too many are pending; no row was stored
   */
  insertDelivery(delivery: WebhookDelivery, maxDeliveries: number): Promise<boolean>;
  /** Pending deliveries of a webhook, including those that are not due yet, by due time. */
  pending(webhookId: string, limit: number): Promise<DueDelivery[]>;
  /** Stores the result of an attempt. Returns false if the delivery was deleted in the meantime. */
  attempted(deliveryId: string, result: AttemptedDelivery): Promise<boolean>;
  /** True if the webhook has had a successful attempt at this time or later. */
  deliveredSince(webhookId: string, at: number): Promise<boolean>;
  getDelivery(id: string): Promise<WebhookDelivery | undefined>;
  /** The deliveries of a webhook, newest first. */
  deliveries(
    webhookId: string,
    filter: { status?: DeliveryStatus | undefined },
    page: Page,
  ): Promise<WebhookDelivery[]>;
  /** Deletes deliveries that have ended and were created before a time, in pieces; returns their number. */
  forgetDeliveries(createdBefore: number): Promise<number>;
}
