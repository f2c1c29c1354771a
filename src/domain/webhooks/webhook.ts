import type { EventType } from "../events.ts";

/**
 * Reason why a webhook is disabled: at its user's request, because its endpoint returned 410, or because it failed for
 * days.
 */
export type DisabledReason = "requested" | "gone" | "failing";

/** An endpoint that receives the events of its user. */
export interface Webhook {
  readonly id: string;
  readonly userId: string;
  readonly url: string;
  /** The types that are delivered; null: every type. */
  readonly events: readonly EventType[] | null;
  readonly description: string | null;
  /** Names of the headers that are sent with every message, in lower case. */
  readonly headerNames: readonly string[];
  /** These headers with their values, encrypted; null: none. */
  readonly sealedHeaders: Uint8Array | null;
  /** Null while it is enabled. */
  readonly disabledReason: DisabledReason | null;
  /** The key, encrypted. */
  readonly sealedKey: Uint8Array;
  /** The key from before the last rotation, encrypted. */
  readonly sealedOldKey: Uint8Array | null;
  /** Time until which messages are signed with the old key too; ms since 1970-01-01 UTC. */
  readonly oldKeyUntil: number | null;
  /** Position in the log of its user: a delivery is planned for every matching event up to here. */
  readonly position: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Number of updates, without changes of the position. */
  readonly version: number;
}

export const DELIVERY_STATUSES = ["pending", "delivered", "failed"] as const;
/** State of a delivery. */
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** The type of the event that a test sends; it is in no log. */
export const TEST_EVENT_TYPE = "webhook.test";

/** One event on its way to one endpoint. */
export interface WebhookDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly eventId: string;
  readonly eventType: EventType | typeof TEST_EVENT_TYPE;
  /** The body of a test; null: the event in the log. */
  readonly body: string | null;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  /** Time at which the next attempt is due; null if there is none. ms since 1970-01-01 UTC. */
  readonly nextAttemptAt: number | null;
  readonly lastAttemptAt: number | null;
  /** Status code of the last response; null without one. */
  readonly lastStatus: number | null;
  /** Reason for the failure of the last attempt; null if it did not fail. */
  readonly lastError: string | null;
  readonly createdAt: number;
}

/** True if the endpoint wants events of this type. */
export function wantsEvent({ events }: Pick<Webhook, "events">, type: EventType): boolean {
  return events === null || events.includes(type);
}
