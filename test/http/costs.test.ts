import { expect, test } from "vitest";
import { MAX_AT_ONCE } from "../../src/application/user-limits/user-limits.ts";
import { ENDPOINTS } from "./support/endpoints.ts";

/** Limits of each route, repeated by hand; the comments name each limit's tests. */
const EXPECTED_LIMITS: Readonly<Record<string, readonly string[]>> = {
  small: [
    ...["endCall", "deleteRecording", "getInstance", "unlinkInstance", "deleteInstance", "createLinkPage"],
    ...["getWebhook", "deleteWebhook", "rotateWebhookSecret", "testWebhook", "replayWebhookDelivery"],
    ...["getConsent", "deleteConsent", "getAudio", "deleteAudio", "listVoices"],
    ...["getBatch", "deleteBatch", "pauseBatch", "resumeBatch", "removeTarget"],
    ...["health", "readiness", "metrics", "openapi", "frontDoor", "docs", "docsErrors", "docsAsset"],
  ],
  // body-budget.test.ts, held-bodies.test.ts
  bodies: [
    ...["createCall", "createAudio", "createInstance", "updateInstance", "createPairingCode"],
    ...["createWebhook", "updateWebhook", "putConsent"],
    ...["createBatch", "startBatch", "cancelBatch", "addTargets", "updateTarget"],
  ],
  // test/application/call-audio/inspections.test.ts
  inspections: ["createCall", "createBatch", "createAudio"],
  // batches.test.ts
  imports: ["addTargets"],
  plans: ["createBatch", "planBatch"],
  linking: ["configureInstance", "createPairingCode"],
  // test/application/instances/link-page.test.ts
  linkPages: ["linkPage"],
  // page-size.test.ts
  pages: [
    ...["listCalls", "listCallEvents", "listEvents", "listInstances"],
    ...["listWebhooks", "listWebhookDeliveries", "listConsents", "listBatches", "listTargets", "listAudio"],
  ],
  // test/application/call-audio/voice-sample.test.ts
  samples: ["hearVoice"],
  // socket-budget.test.ts
  sockets: ["streamCall", "listenToCall", "simulatorPhone"],
  // stream/stream-tickets.test.ts
  tickets: ["createStreamTicket"],
  // in-turns.test.ts
  turns: ["getRecording", "simulatorArtefact", "listInstances", "listWebhooks", "listConsents", "listTargets"],
  // event-stream.test.ts
  waits: ["getCall", "listCallEvents", "listEvents"],
};

const operations = ENDPOINTS.map(({ route }) => route.operation);

test("each limit holds for these operations and no others", () => {
  const actualLimits = new Map<string, string[]>();
  for (const { id, cost } of operations)
    for (const limit of typeof cost === "string" ? [cost] : cost)
      actualLimits.set(limit, [...(actualLimits.get(limit) ?? []), id]);
  const withSortedIds = (limits: Iterable<readonly [string, readonly string[]]>) =>
    Object.fromEntries([...limits].map(([limit, ids]) => [limit, [...ids].sort()]));
  expect(withSortedIds(actualLimits)).toEqual(withSortedIds(Object.entries(EXPECTED_LIMITS)));
});

test("the number of concurrent expensive requests of a user is limited", () => {
  expect(MAX_AT_ONCE).toEqual({
    inspections: 50,
    linking: 20,
    demoLinking: 5,
    linkPages: 10,
    samples: 4,
    imports: 1,
    plans: 2,
    waits: 100,
  });
});

test.each(operations)("$id has the limits that follow from its description", ({ cost, body, responses, query }) => {
  expect(cost.includes("bodies")).toBe(body !== undefined);
  expect(cost.includes("sockets")).toBe(Object.hasOwn(responses, 101));
  expect(cost.includes("pages")).toBe(query !== undefined && Object.hasOwn(query, "cursor"));
});
