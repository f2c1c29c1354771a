import { afterEach, expect, test, vi } from "vitest";
import { TransportError } from "../../../adapters/sip-stack/transport/transport.ts";
import { type FarEnd, startFarEnd } from "../../support/sip/far-end.ts";
import { field, readSip } from "../../support/sip/sip-text.ts";
import { datagramPeer, never, streamPeer } from "../transport/sockets.ts";
import { openTrunk, request, send, type Trunk } from "./trunk.ts";

const resources: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const resource of resources.splice(0).reverse()) await resource.close();
});

async function farEnd(...options: Parameters<typeof startFarEnd>): Promise<FarEnd> {
  const end = await startFarEnd(...options);
  resources.push(end);
  return end;
}

function trunk(...options: Parameters<typeof openTrunk>): Trunk {
  const openedTrunk = openTrunk(...options);
  resources.push(openedTrunk.transactions);
  return openedTrunk;
}

test("a request over UDP gets its response and learns our address", async () => {
  const { uri } = await farEnd();
  const { transactions } = trunk();
  const sent = send(transactions, request("OPTIONS", uri), uri);
  const response = await sent.end;
  expect(response).toMatchObject({ kind: "response", status: 200 });
  expect(sent.events).toEqual(["sent", "200"]);
  const [flow] = sent.flows;
  expect(flow?.local.address).toBe("127.0.0.1");
  expect(sent.transaction.request.headers.get("Contact")).toBe(`<sip:us@127.0.0.1:${flow?.local.port}>`);
});

// Deno does not connect UDP sockets, so it reports no ICMP errors: the timers decide.
test.skipIf("Deno" in globalThis)("a closed port is reported at once", async () => {
  const closedServer = await startFarEnd();
  await closedServer.close();
  const { transactions } = trunk();
  const fault = await send(transactions, request("OPTIONS", closedServer.uri), closedServer.uri).end;
  expect(fault).toBeInstanceOf(TransportError);
  expect(fault).toMatchObject({ fault: "refused" });
});

test.each(["udp", "tcp"])("an INVITE past its deadline is not sent: %s", async (kind) => {
  const datagrams = await datagramPeer();
  const stream = await streamPeer();
  resources.push(datagrams, stream);
  const received = (): string => datagrams.received.map(({ text }) => text).join("") + stream.received();
  const uri = `sip:them@127.0.0.1:${kind === "udp" ? datagrams.port : stream.port};transport=${kind}`;
  const { transactions } = trunk();
  const flow = await transactions.flowTo(uri, never);
  let isOverdue = false;
  transactions.request(request("INVITE", uri), flow, {
    maySend: () => !isOverdue,
    prepare(copy) {
      const { body } = copy;
      const write = (): Uint8Array => {
        isOverdue = true;
        return body;
      };
      Object.defineProperty(copy, "body", { get: write });
    },
    final() {},
    failed() {},
  });
  send(transactions, request("OPTIONS", uri), flow);
  await vi.waitFor(() => expect(received()).toMatch(/OPTIONS/));
  expect(isOverdue).toBe(true);
  expect(received()).not.toMatch(/INVITE/);
});

test("a long INVITE on a silent TCP port falls back to UDP", async () => {
  const silentPeer = await streamPeer();
  resources.push(silentPeer);
  const datagrams = await datagramPeer("127.0.0.1", silentPeer.port);
  resources.push(datagrams);
  const { transactions } = trunk({ timers: { t1Ms: 25 } });
  const uri = `sip:them@127.0.0.1:${silentPeer.port}`;
  const invites = (): string[] =>
    datagrams.received.map(({ text }) => text).filter((text) => text.startsWith("INVITE"));
  const ids = (text: string): string[] =>
    ["Call-ID", "From", "CSeq"].map((name) => field(readSip(Buffer.from(text)), name));
  const sent = send(transactions, request("INVITE", uri, {}, "x".repeat(1_300)), uri);
  await vi.waitFor(() => expect(silentPeer.received()).toMatch(/x{1300}$/));
  await vi.waitFor(() => expect(invites().length).toBeGreaterThan(0));
  expect(sent.events).toEqual(["sent", "sent"]);
  expect(ids(invites()[0]!)).toEqual(ids(silentPeer.received()));
  expect(field(readSip(Buffer.from(invites()[0]!)), "Via")).toMatch(/^SIP\/2\.0\/UDP /);
  const nextInvite = request("INVITE", uri, {}, "y".repeat(1_300));
  send(transactions, nextInvite, uri);
  await vi.waitFor(() => expect(invites().some((text) => text.endsWith("y"))).toBe(true));
  expect(silentPeer.received()).not.toContain("y".repeat(1_300));
});
