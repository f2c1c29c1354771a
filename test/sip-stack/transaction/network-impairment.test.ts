import { afterEach, expect, test } from "vitest";
import { type FarEnd, startFarEnd } from "../../support/sip/far-end.ts";
import { type LossyRelay, type LossyRelayOptions, startLossyRelay } from "../../support/sip/lossy-relay.ts";
import { openTrunk, request, send, type Trunk } from "./trunk.ts";

const resources: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const resource of resources.splice(0).reverse()) await resource.close();
});

async function openBehindRelay(
  signalling: LossyRelayOptions["signalling"],
): Promise<{ farEnd: FarEnd; relay: LossyRelay; trunk: Trunk }> {
  const farEnd = await startFarEnd();
  resources.push(farEnd);
  const relay = await startLossyRelay({ to: farEnd, ...(signalling ? { signalling } : {}) });
  resources.push(relay);
  const trunk = openTrunk({ timers: { t1Ms: 50, t2Ms: 400, t4Ms: 500 } });
  resources.push(trunk.transactions);
  return { farEnd, relay, trunk };
}

function isMessage(datagram: Buffer): boolean {
  return datagram.length > 4;
}

test("a lost request and a lost response cost two pauses", async () => {
  let requestCount = 0;
  let responseCount = 0;
  const { trunk, relay } = await openBehindRelay({
    loses: (datagram) =>
      isMessage(datagram) && (datagram.toString().startsWith("SIP/2.0") ? responseCount++ === 0 : requestCount++ === 0),
  });
  const startedAt = performance.now();
  const sent = send(trunk.transactions, request("OPTIONS", relay.uri), relay.uri);
  expect(await sent.end).toMatchObject({ status: 200 });
  expect(performance.now() - startedAt).toBeGreaterThan(140);
  expect(sent.events).toEqual(["sent", "200"]);
});

test("every request gets one response despite impairments", async () => {
  const { trunk, relay, farEnd } = await openBehindRelay({
    loss: 0.15,
    duplicates: 0.3,
    reordered: 0.3,
    reorderDelayMs: 80,
  });
  const requests = Array.from({ length: 100 }, () =>
    send(trunk.transactions, request("OPTIONS", relay.uri), relay.uri),
  );
  const ends = await Promise.all(requests.map(({ end }) => end));
  expect(ends.filter((end) => "status" in end && end.status === 200)).toHaveLength(100);
  expect(requests.every(({ events }) => events.join() === "sent,200")).toBe(true);
  expect(relay.signalling.lost).toBeGreaterThan(10);
  expect(farEnd.requests.length).toBeGreaterThan(100);
  expect(trunk.transports.malformedCount).toBe(0);
});
