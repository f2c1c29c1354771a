import { createClient } from "ringport/client";
import { expect, test } from "vitest";
import { server, TEST_URL } from "./support/server.ts";

const { ringport } = server();

/** Operations that the client reaches over a WebSocket. */
const STREAMS = ["GET /v1/calls/{callId}/stream", "GET /v1/calls/{callId}/listen"];

test("the client calls every documented operation under /v1", async () => {
  const document = await ringport.fetch(new Request(`${TEST_URL}/openapi.json`));
  const { paths } = (await document.json()) as { paths: Record<string, Record<string, unknown>> };
  const documentedOperations = Object.entries(paths)
    .flatMap(([path, item]) => Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`))
    .filter((operation) => / \/v1\//.test(operation) && !STREAMS.includes(operation))
    .sort();
  expect(documentedOperations.length).toBeGreaterThan(12);

  const operations = new Set<string>();
  const client = createClient({
    url: TEST_URL,
    token: "t",
    fetch: async ({ method, url }) => {
      operations.add(`${method} ${new URL(url).pathname.replace("/voice", "")}`);
      return Response.json([]);
    },
  });
  const target = { phoneNumber: "+12025550100" };
  await client.instances.create({ name: "x" });
  await client.instances.page();
  await client.instances.get("{instanceId}");
  await client.instances.update("{instanceId}", { name: "y" });
  await client.instances.linkPage("{instanceId}");
  await client.instances.configure("{instanceId}");
  await client.instances.unlink("{instanceId}");
  await client.instances.pairingCode("{instanceId}", { phone: "+12025550100" });
  await client.instances.delete("{instanceId}");
  await client.calls.place({ instanceId: "{instanceId}", type: "DYNAMIC_STREAM", target });
  await client.calls.page();
  await client.calls.get("{callId}");
  await client.calls.events("{callId}");
  await client.calls.hangUp("{callId}");
  await client.calls.streamTicket("{callId}");
  await client.calls.recording("{callId}");
  await client.calls.deleteRecording("{callId}");
  const batch = {
    name: "x",
    instanceIds: [],
    message: { type: "FIXED_TTS", tts: { text: "x", voiceId: "x" } },
  } as const;
  await client.batches.create(batch);
  for await (const _ of client.batches.list()) break;
  await client.batches.get("{batchId}");
  await client.batches.addTargets("{batchId}", []);
  for await (const _ of client.batches.targets("{batchId}")) break;
  await client.batches.updateTarget("{batchId}", "{position}" as never, {});
  await client.batches.removeTarget("{batchId}", "{position}" as never);
  await client.batches.plan("{batchId}");
  await client.batches.start("{batchId}");
  await client.batches.pause("{batchId}");
  await client.batches.resume("{batchId}");
  await client.batches.cancel("{batchId}");
  await client.batches.delete("{batchId}");
  for await (const _ of client.events()) break;
  const url = "https://example.com/hooks";
  await client.webhooks.create({ url });
  for await (const _ of client.webhooks.list()) break;
  await client.webhooks.get("{webhookId}");
  await client.webhooks.update("{webhookId}", { url });
  await client.webhooks.rotateSecret("{webhookId}");
  await client.webhooks.test("{webhookId}");
  for await (const _ of client.webhooks.deliveries("{webhookId}")) break;
  await client.webhooks.replay("{webhookId}", "{deliveryId}");
  await client.webhooks.delete("{webhookId}");
  await client.audio.create({ file: new Blob(["x"]) });
  for await (const _ of client.audio.list()) break;
  await client.audio.get("{audioId}");
  await client.audio.delete("{audioId}");
  await client.consents.put("{phone}", { status: "granted" });
  await client.consents.get("{phone}");
  for await (const _ of client.consents.list()) break;
  await client.consents.delete("{phone}");
  await client.voices();
  await client.voiceSample("{voiceId}");
  const calledOperations = [...operations].map((operation) => decodeURIComponent(operation)).sort();
  expect(calledOperations).toEqual(documentedOperations);
});
