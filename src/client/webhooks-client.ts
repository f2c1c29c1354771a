import type { DeliveryStatus } from "../domain/webhooks/webhook.ts";
import type { CreateWebhookInput, UpdateWebhookInput } from "../domain/webhooks/webhook-input.ts";
import type { RequestOptions, Transport } from "./http-transport.ts";
import { allItems, type Page, type PageQuery } from "./list-pages.ts";
import type { Webhook, WebhookDelivery, WebhookWithSecret } from "./views.ts";

/** Filter for deliveries; the fields are named after the query parameters. */
export interface ListDeliveriesQuery extends PageQuery {
  readonly status?: DeliveryStatus | undefined;
}

/**
 * The endpoints that receive the user's events. All methods throw `RingportError`. Requests that create something are
 * not retried: a second attempt would create another webhook.
 */
export interface WebhooksClient {
  /** Creates a webhook. The response contains the secret, which is shown only once. */
  create(input: CreateWebhookInput, options?: RequestOptions): Promise<WebhookWithSecret>;
  /** All webhooks, newest first, read in pages of `limit` webhooks. */
  list(query?: PageQuery, options?: RequestOptions): AsyncGenerator<Webhook, void, undefined>;
  get(id: string, options?: RequestOptions): Promise<Webhook>;
  /** Changes the fields of the input; `enabled: true` resumes a disabled webhook. */
  update(id: string, input: UpdateWebhookInput, options?: RequestOptions): Promise<Webhook>;
  /** Deletes the webhook with its deliveries. */
  delete(id: string, options?: RequestOptions): Promise<void>;
  /** Replaces the secret; for 24 h messages are signed with the old secret too. */
  rotateSecret(id: string, options?: RequestOptions): Promise<WebhookWithSecret>;
  /** Sends an event of the type `webhook.test`. */
  test(id: string, options?: RequestOptions): Promise<WebhookDelivery>;
  /** All deliveries, newest first, read in pages of `limit` deliveries. */
  deliveries(
    id: string,
    query?: ListDeliveriesQuery,
    options?: RequestOptions,
  ): AsyncGenerator<WebhookDelivery, void, undefined>;
  /** Delivers the same event again, as a new delivery. */
  replay(id: string, deliveryId: string, options?: RequestOptions): Promise<WebhookDelivery>;
}

const PAGE_SIZE = 100;

export function webhooksClient(transport: Transport): WebhooksClient {
  const root = "/v1/webhooks";
  const pathOf = (id: string) => `${root}/${encodeURIComponent(id)}`;
  const page = <T>(path: string, query: ListDeliveriesQuery, options?: RequestOptions): Promise<Page<T>> =>
    transport.page(path, { ...query }, options);
  return {
    create: (input, options) => transport.postOnce(root, input, options),
    list: ({ limit = PAGE_SIZE, cursor } = {}, options) =>
      allItems((cursor) => page(root, { limit, cursor }, options), cursor),
    get: (id, options) => transport.get(pathOf(id), {}, options),
    update: (id, input, options) => transport.patch(pathOf(id), input, options),
    delete: (id, options) => transport.delete(pathOf(id), options),
    rotateSecret: (id, options) => transport.postOnce(`${pathOf(id)}/rotate-secret`, {}, options),
    test: (id, options) => transport.postOnce(`${pathOf(id)}/test`, {}, options),
    deliveries: (id, { limit = PAGE_SIZE, cursor, status } = {}, options) =>
      allItems((cursor) => page(`${pathOf(id)}/deliveries`, { limit, cursor, status }, options), cursor),
    replay: (id, deliveryId, options) =>
      transport.postOnce(`${pathOf(id)}/deliveries/${encodeURIComponent(deliveryId)}/replay`, {}, options),
  };
}
