import { afterEach, expect, test } from "vitest";
import { type FarEnd, startFarEnd } from "../../support/sip/far-end.ts";
import { type LossyRelay, type LossyRelayOptions, startLossyRelay } from "../../support/sip/lossy-relay.ts";
import { openTrunk, request, send, type Trunk } from "./trunk.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function behind(
  signalling: LossyRelayOptions["signalling"],
): Promise<{ far: FarEnd; relay: LossyRelay; trunk: Trunk }> {
  const far = await startFarEnd();
  open.push(far);
  const relay = await startLossyRelay({ to: far, ...(signalling ? { signalling } : {}) });
  open.push(relay);
  const trunk = openTrunk({ timers: { t1Ms: 50, t2Ms: 400, t4Ms: 500 } });
  open.push(trunk.transactions);
  return { far, relay, trunk };
}

function isMessage(datagram: Buffer): boolean {
  return datagram.length > 4;
}

test("a lost request and a lost response cost two pauses", async () => {
  let asked = 0;
  let answered = 0;
  const { trunk, relay } = await behind({
    loses: (datagram) =>
      isMessage(datagram) && (datagram.toString().startsWith("SIP/2.0") ? answered++ === 0 : asked++ === 0),
  });
  const startedAt = performance.now();
  const sent = send(trunk.transactions, request("OPTIONS", relay.uri), relay.uri);
  expect(await sent.end).toMatchObject({ status: 200 });
  expect(performance.now() - startedAt).toBeGreaterThan(140);
  expect(sent.told).toEqual(["sent", "200"]);
});

test("every request gets one response despite impairments", async () => {
  const { trunk, relay, far } = await behind({ loss: 0.15, duplicates: 0.3, reordered: 0.3, reorderDelayMs: 80 });
  const all = Array.from({ length: 100 }, () => send(trunk.transactions, request("OPTIONS", relay.uri), relay.uri));
  const ends = await Promise.all(all.map(({ end }) => end));
  expect(ends.filter((end) => "status" in end && end.status === 200)).toHaveLength(100);
  expect(all.every(({ told }) => told.join() === "sent,200")).toBe(true);
  expect(relay.signalling.lost).toBeGreaterThan(10);
  expect(far.requests.length).toBeGreaterThan(100);
  expect(trunk.transports.malformed).toBe(0);
});
