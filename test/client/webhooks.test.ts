import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createRingport } from "ringport";
import { type CallEvent, createClient } from "ringport/client";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary-folder.ts";

const URL = "http://ringport.test";
const ringport = createRingport({
  data: temporaryFolder("webhooks"),
  publicUrl: URL,
  webhooks: { allowPrivate: true },
  embedded: { simulatorTimeScale: 0.05, synchronous: "NORMAL" },
});
let client: ReturnType<typeof createClient>;

interface Message {
  readonly body: string;
  readonly headers: Record<string, string>;
}
const messages: Message[] = [];
let onMessage = () => {};
const endpoint = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  messages.push({ body, headers: request.headers as Record<string, string> });
  response.writeHead(204).end();
  onMessage();
});

beforeAll(async () => {
  await new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve));
  await ringport.start();
  const { token } = await ringport.tokens.issue({ userName: "ana", label: "test" });
  client = createClient({ url: URL, token, fetch: (request) => ringport.fetch(request) });
});
afterAll(async () => {
  await ringport.stop({ drainMs: 0 });
  endpoint.close();
});

/** Resolves once the endpoint has received a message that meets the condition. */
async function waitForMessage(matches: (event: CallEvent) => boolean): Promise<Message> {
  for (;;) {
    const match = messages.find(({ body }) => matches(JSON.parse(body)));
    if (match) return match;
    await new Promise<void>((resolve) => {
      onMessage = resolve;
    });
  }
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const results: T[] = [];
  for await (const item of items) results.push(item);
  return results;
}

test("a webhook gets a call's events, signed, and its client sees the deliveries", async () => {
  const url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/hooks`;
  const { id, secret } = await client.webhooks.create({ url, description: "CRM" });
  const instance = await client.instances.create({ name: "Front desk" });
  const { message } = await client.instances.configure(instance.id);
  const [link = ""] = /https?:\S+\w/.exec(message) ?? [];
  await ringport.fetch(new Request(link, { method: "POST" }));
  const call = await client.calls.create({
    instanceId: instance.id,
    type: "FIXED_TTS",
    target: { phoneNumber: "+12025550101" },
    tts: { text: "Hello.", voiceId: "en-US-1" },
  });
  const { status } = await client.waitForCall(call.id);
  const finalMessage = await waitForMessage(
    (event) => event.call_id === call.id && /^(completed|failed)$/.test(event.type),
  );
  const { items } = await client.eventPage({ instance_id: instance.id });
  expect(new Webhook(secret).verify(finalMessage.body, finalMessage.headers)).toEqual(
    items.find(({ type }) => type === status.toLowerCase()),
  );

  const test = await client.webhooks.test(id);
  await waitForMessage((event) => event.id === test.event_id);
  const [delivery] = await collect(client.webhooks.deliveries(id, { status: "delivered" }));
  expect(delivery).toMatchObject({ webhook_id: id, attempts: 1, last_status: 204 });
  const rotatedWebhook = await client.webhooks.rotateSecret(id);
  const replayedDelivery = await client.webhooks.replay(id, test.id);
  expect(replayedDelivery).toMatchObject({ event_id: test.event_id, status: "pending" });
  expect(rotatedWebhook.secret).not.toBe(secret);
  expect(await client.webhooks.update(id, { enabled: false })).toMatchObject({ disabled_reason: "requested" });
  expect(await collect(client.webhooks.list())).toHaveLength(1);
  await client.webhooks.delete(id);
  await expect(client.webhooks.get(id)).rejects.toMatchObject({ code: "webhook_not_found" });
});

test("a creation with a lost response runs once", async () => {
  let posts = 0;
  const lossyClient = createClient({
    url: URL,
    token: "t",
    fetch: async () => {
      posts++;
      throw new TypeError("connection reset");
    },
  });
  await expect(lossyClient.webhooks.create({ url: "https://example.com/" })).rejects.toThrow();
  expect(posts).toBe(1);
});
