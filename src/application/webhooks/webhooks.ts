import { isId } from "../../base/ids.ts";
import type { Principal } from "../../domain/access/principal.ts";
import { isObject } from "../../domain/input/input-checks.ts";
import { type InputSchemas, parseCreateWebhook, parseUpdateWebhook } from "../../domain/input/inputs.ts";
import { type Fault, Refusal } from "../../domain/refusal.ts";
import {
  type DeliveryStatus,
  TEST_EVENT_TYPE,
  type Webhook,
  type WebhookDelivery,
} from "../../domain/webhooks/webhook.ts";
import { newWebhookKey, webhookSecret } from "../../domain/webhooks/webhook-signature.ts";
import { webhookUrlFault } from "../../domain/webhooks/webhook-url.ts";
import type { Page, WebhookPatch } from "../../ports/storage.ts";
import type { Context } from "../context.ts";
import { sealHeaders } from "../encryption/sealed-headers.ts";
import { shortenedId } from "../instances/owned-instance.ts";
import { MAX_AHEAD_MS } from "../stored-times.ts";
import type { CreateOptions, WebhookUseCases, WebhookWithSecret } from "../use-cases.ts";
import { refuseDemo } from "../user-limits/refuse-demo.ts";
import type { Endpoints } from "./endpoints.ts";
import { newDelivery } from "./new-delivery.ts";

type WebhooksContext = Pick<
  Context,
  "ids" | "limits" | "schemas" | "storage" | "strictSchemas" | "system" | "vault" | "webhooksAllowPrivate"
>;

/** Maximum time after a rotation in which messages are also signed with the old key, ms. */
export const OLD_KEY_MS: number = MAX_AHEAD_MS["webhooks.old_key_until"];
/** Maximum number of tests and replays of one webhook that wait for delivery, and that are kept afterwards. */
export const MAX_REQUESTED = 1_000;

const DEMO = "a demo token cannot use webhooks";

/** The use cases of webhooks. */
export class Webhooks implements WebhookUseCases {
  readonly #context: WebhooksContext;
  readonly #endpoints: Endpoints;

  constructor(context: WebhooksContext, endpoints: Endpoints) {
    this.#context = context;
    this.#endpoints = endpoints;
  }

  async create(
    principal: Principal,
    input: unknown,
    { strict = false }: Pick<CreateOptions, "strict"> = {},
  ): Promise<WebhookWithSecret> {
    const { storage, system, ids, vault, limits } = this.#context;
    const checkedInput = parseCreateWebhook(this.#schemas(strict), input, this.#urlFaults(input));
    refuseDemo(principal, DEMO);
    const id = ids("hook");
    const key = newWebhookKey((bytes) => system.random(bytes));
    const now = system.now();
    const webhook: Webhook = {
      id,
      userId: principal.userId,
      url: checkedInput.url,
      events: checkedInput.events ?? null,
      description: checkedInput.description ?? null,
      ...(await sealHeaders(vault, id, checkedInput.headers ?? null)),
      disabledReason: null,
      sealedKey: await vault.seal(id, key),
      sealedOldKey: null,
      oldKeyUntil: null,
      position: 0,
      createdAt: now,
      updatedAt: now,
      version: 1,
    };
    const maxWebhooks = limits.webhooksPerUser;
    const storedWebhook = await storage.webhooks.insert(webhook, maxWebhooks);
    if (!storedWebhook)
      throw new Refusal(
        "webhook_quota",
        `you have ${maxWebhooks} webhooks, and this server allows ${maxWebhooks}; delete one first`,
      );
    this.#endpoints.update(storedWebhook);
    return { ...storedWebhook, secret: webhookSecret(key) };
  }

  async list(principal: Principal, page: Page = {}): Promise<Webhook[]> {
    refuseDemo(principal, DEMO);
    return this.#context.storage.webhooks.list(principal.userId, page);
  }

  async get(principal: Principal, webhookId: string): Promise<Webhook> {
    refuseDemo(principal, DEMO);
    const webhook = isId("hook", webhookId) ? await this.#context.storage.webhooks.get(webhookId) : undefined;
    if (webhook?.userId !== principal.userId)
      throw new Refusal("webhook_not_found", `there is no webhook "${shortenedId(webhookId)}"`);
    return webhook;
  }

  async update(
    principal: Principal,
    webhookId: string,
    input: unknown,
    { strict = false }: Pick<CreateOptions, "strict"> = {},
  ): Promise<Webhook> {
    const { enabled, url, events, description, headers } = parseUpdateWebhook(
      this.#schemas(strict),
      input,
      this.#urlFaults(input),
    );
    return this.#change(principal, webhookId, async ({ id, disabledReason, ...webhook }) => ({
      ...(headers === undefined
        ? assertHeadersKeepOrigin(webhook, url)
        : await sealHeaders(this.#context.vault, id, headers)),
      ...(url !== undefined && { url }),
      ...(events !== undefined && { events }),
      ...(description !== undefined && { description }),
      ...(enabled === true && { disabledReason: null }),
      ...(enabled === false && { disabledReason: disabledReason ?? "requested" }),
    }));
  }

  async delete(principal: Principal, webhookId: string): Promise<void> {
    const { id } = await this.get(principal, webhookId);
    await this.#context.storage.webhooks.delete(id);
    this.#endpoints.remove(id);
  }

  async rotateSecret(principal: Principal, webhookId: string): Promise<WebhookWithSecret> {
    const { system, vault } = this.#context;
    const key = newWebhookKey((bytes) => system.random(bytes));
    const updatedWebhook = await this.#change(principal, webhookId, async ({ id, sealedKey }) => ({
      sealedKey: await vault.seal(id, key),
      sealedOldKey: sealedKey,
      oldKeyUntil: system.now() + OLD_KEY_MS,
    }));
    return { ...updatedWebhook, secret: webhookSecret(key) };
  }

  async test(principal: Principal, webhookId: string): Promise<WebhookDelivery> {
    const { id } = await this.#getEnabled(principal, webhookId);
    const { ids, system } = this.#context;
    const eventId = ids("evt");
    const body = JSON.stringify({
      id: eventId,
      type: TEST_EVENT_TYPE,
      timestamp: new Date(system.now()).toISOString(),
      call_id: null,
      instance_id: null,
      sequence: null,
      data: { webhook_id: id },
    });
    return this.#deliver({ webhookId: id, eventId, eventType: TEST_EVENT_TYPE, body });
  }

  async deliveries(
    principal: Principal,
    webhookId: string,
    filter: { status?: DeliveryStatus | undefined } = {},
    page: Page = {},
  ): Promise<WebhookDelivery[]> {
    const { id } = await this.get(principal, webhookId);
    return this.#context.storage.webhooks.deliveries(id, filter, page);
  }

  async replay(principal: Principal, webhookId: string, deliveryId: string): Promise<WebhookDelivery> {
    const { id } = await this.get(principal, webhookId);
    const original = isId("dlv", deliveryId) ? await this.#context.storage.webhooks.getDelivery(deliveryId) : undefined;
    if (original?.webhookId !== id)
      throw new Refusal("delivery_not_found", `the webhook has no delivery "${shortenedId(deliveryId)}"`);
    await this.#getEnabled(principal, webhookId);
    const { eventId, eventType, body } = original;
    return this.#deliver({ webhookId: id, eventId, eventType, body });
  }

  async #deliver(
    fields: Pick<WebhookDelivery, "webhookId" | "eventId" | "eventType" | "body">,
  ): Promise<WebhookDelivery> {
    const delivery = newDelivery(this.#context, fields);
    if (!(await this.#context.storage.webhooks.insertDelivery(delivery, MAX_REQUESTED)))
      throw new Refusal(
        "delivery_quota",
        `${MAX_REQUESTED} tests and replays of this webhook wait for their delivery, and no more are accepted; wait for some of them`,
      );
    this.#endpoints.wake(fields.webhookId);
    return delivery;
  }

  async #getEnabled(principal: Principal, webhookId: string): Promise<Webhook> {
    const webhook = await this.get(principal, webhookId);
    if (webhook.disabledReason !== null)
      throw new Refusal("webhook_disabled", "the webhook is disabled; enable it first");
    return webhook;
  }

  async #change(
    principal: Principal,
    webhookId: string,
    patchOf: (webhook: Webhook) => WebhookPatch | Promise<WebhookPatch>,
  ): Promise<Webhook> {
    const { storage, system } = this.#context;
    for (;;) {
      const webhook = await this.get(principal, webhookId);
      const patch = { ...(await patchOf(webhook)), updatedAt: system.now() };
      const updatedWebhook = await storage.webhooks.update(webhook.id, webhook.version, patch);
      if (!updatedWebhook) continue; // another write came first
      this.#endpoints.update(updatedWebhook);
      return updatedWebhook;
    }
  }

  #urlFaults(input: unknown): Fault[] {
    const url = isObject(input) ? input.url : undefined;
    const detail = typeof url === "string" ? webhookUrlFault(url, this.#context.webhooksAllowPrivate) : undefined;
    return detail === undefined ? [] : [{ pointer: "/url", code: "value_invalid", detail }];
  }

  #schemas(strict: boolean): InputSchemas {
    return strict ? this.#context.strictSchemas : this.#context.schemas;
  }
}

/**
 * The values of headers are secrets, so they never follow a webhook to another origin.
 * @throws {Refusal} `invalid_request`
 */
function assertHeadersKeepOrigin(webhook: Pick<Webhook, "url" | "headerNames">, url: string | undefined): undefined {
  if (url === undefined || webhook.headerNames.length === 0) return;
  if (new URL(url).origin === new URL(webhook.url).origin) return;
  const detail = `the webhook has headers (${webhook.headerNames.join(", ")}) for ${new URL(webhook.url).origin}: send them again for the new origin, or null to remove them`;
  throw new Refusal("invalid_request", detail, { errors: [{ pointer: "/headers", code: "required", detail }] });
}
