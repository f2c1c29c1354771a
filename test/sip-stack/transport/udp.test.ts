import { afterEach, expect, test, vi } from "vitest";
import { parseVia } from "../../../adapters/sip-stack/message/header-values.ts";
import { responseTo } from "../../../adapters/sip-stack/message/sip-message.ts";
import { writeMessage } from "../../../adapters/sip-stack/message/write-message.ts";
import type { Hop } from "../../../adapters/sip-stack/transport/transport.ts";
import { ExpectedPeers } from "../../../adapters/sip-stack/transport/udp-transport.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";
import {
  type DatagramPeer,
  datagramPeer,
  hasLoopback6,
  never,
  type ObservedTrunk,
  observe,
  options,
  TestResources,
} from "./sockets.ts";

const resources = new TestResources();
afterEach(() => resources.close());

async function peer(address?: string): Promise<DatagramPeer> {
  return resources.add(await datagramPeer(address));
}

function trunk(...args: Parameters<typeof observe>): ObservedTrunk {
  return resources.add(observe(...args));
}

function hopTo({ address, port }: { readonly address: string; readonly port: number }): Hop {
  return { kind: "udp", address, port, host: address };
}

/** Messages received, without keep-alives. */
function messagesOf({ received }: DatagramPeer): DatagramPeer["received"] {
  return received.filter(({ text }) => text.trim() !== "");
}

const LOOPBACKS = [
  { family: "IPv4", address: "127.0.0.1", host: "127.0.0.1" },
  ...(hasLoopback6 ? [{ family: "IPv6", address: "::1", host: "[::1]" }] : []),
];

test.each(LOOPBACKS)("a datagram over $family gets its response", async ({ address, host }) => {
  const farPeer = await peer(address);
  const { transports, messages } = trunk();
  const flow = await transports.connect(hopTo(farPeer), never);
  expect(flow).toMatchObject({ kind: "udp", reliable: false, isAlive: true, remote: { address, port: farPeer.port } });
  flow.send(options());
  await vi.waitFor(() => expect(messagesOf(farPeer)).toHaveLength(1));
  expect(messagesOf(farPeer)[0]).toMatchObject({ address: flow.local.address, port: flow.local.port });
  expect(transports.sentBy(flow)).toBe(`${host}:${flow.local.port}`);
  farPeer.send(writeMessage(responseTo(options(), 200, "OK")), flow.local.port);
  await vi.waitFor(() => expect(messages).toHaveLength(1));
  expect(messages[0]?.flow).toBe(flow);
});

test("requests from all trunk addresses are accepted", async () => {
  const farPeer = await peer();
  const otherPeer = await peer("127.0.0.2");
  const { transports, messages } = trunk();
  const flow = await transports.connect(hopTo(farPeer), never);
  transports.expect?.([hopTo(farPeer), hopTo({ address: "127.0.0.2", port: 5060 })]);
  otherPeer.send(writeMessage(options("SIP/2.0/UDP 127.0.0.2:1;branch=z9hG4bKx;rport")), flow.local.port, "127.0.0.1");
  await vi.waitFor(() => expect(messages).toHaveLength(1));
  expect(messages[0]?.flow.remote).toEqual({ address: "127.0.0.2", port: otherPeer.port });
});

test("a request from any other address is dropped unread; a response is accepted", async () => {
  const farPeer = await peer();
  const stranger = await peer("127.0.0.2");
  const { transports, messages } = trunk();
  const { local } = await transports.connect(hopTo(farPeer), never);
  const request = writeMessage(options("SIP/2.0/UDP 127.0.0.2:1;branch=z9hG4bKx;rport"));
  stranger.send(request, local.port, "127.0.0.1");
  stranger.send(new TextDecoder().decode(request).replace("1 OPTIONS", "one"), local.port, "127.0.0.1");
  stranger.send("hello", local.port, "127.0.0.1");
  stranger.send(writeMessage(responseTo(options(), 200, "OK")), local.port, "127.0.0.1");
  await vi.waitFor(() => expect(messages).toHaveLength(1));
  farPeer.send(writeMessage(options()), local.port);
  await vi.waitFor(() => expect(messages).toHaveLength(2));
  expect(messages.map(({ message }) => message.kind)).toEqual(["response", "request"]);
  expect(transports.malformedCount).toBe(0);
  expect(stranger.received).toEqual([]);
});

test("a flood of strangers is not parsed, except requests of live calls", async () => {
  const farPeer = await peer();
  const stranger = await peer("127.0.0.2");
  const callPeer = await peer("127.0.0.3");
  const { transports, messages } = trunk();
  const { local } = await transports.connect(hopTo(farPeer), never);
  transports.listen({
    message: (message, flow) => void messages.push({ message, flow }),
    closed() {},
    hasCall: (callId) => callId === "live",
    isOurs: ({ headers }) => headers.get("CSeq") === "1 OPTIONS",
  });
  const messageText = (callId: string, cseq: string): string =>
    new TextDecoder()
      .decode(writeMessage(options("SIP/2.0/UDP 127.0.0.2:1;branch=z9hG4bKx;rport")))
      .replace(/Call-ID: .*/, `Call-ID: ${callId}`)
      .replace("1 OPTIONS", cseq);
  // Unparsable messages are counted as malformed.
  for (let n = 0; n < 200; n++) stranger.send(messageText(`stray-${n}`, "broken"), local.port, "127.0.0.1");
  stranger.send(messageText("live", "2 OPTIONS"), local.port, "127.0.0.1");
  await vi.waitFor(() => {
    callPeer.send(messageText("live", "1 OPTIONS"), local.port, "127.0.0.1"); // any of them may be lost in the flood
    expect(messages.length).toBeGreaterThan(0);
  });
  expect(messages[0]?.message.headers.get("CSeq")).toBe("1 OPTIONS");
  expect(transports.malformedCount).toBe(0);
  expect(stranger.received).toEqual([]);
});

test("an expected address matches in any notation", () => {
  const peers = new ExpectedPeers();
  peers.add("2001:DB8:0:0:0:0:0:1");
  peers.add("fe80::1%eth0");
  expect(
    ["2001:db8::1", "fe80::1", "fe80::1%2", "2001:db8::2", "192.0.2.1"].map((address) => peers.has(address)),
  ).toEqual([...[true, true, true], ...[false, false]]);
});

test("a response goes to the source port with rport, otherwise to Via's", async () => {
  const farPeer = await peer();
  const { transports, messages } = trunk();
  const { local } = await transports.connect(hopTo(farPeer), never);
  const vias = [
    "SIP/2.0/UDP host.example:4711;branch=z9hG4bK1;rport",
    "SIP/2.0/UDP host.example:4711;branch=z9hG4bK2",
    "SIP/2.0/UDP host.example;branch=z9hG4bK3",
    "SIP/2.0/UDP 127.0.0.1:4711;branch=z9hG4bK4, SIP/2.0/UDP next;branch=z9hG4bK5",
  ];
  for (const [n, via] of vias.entries()) {
    farPeer.send(writeMessage(options(via)), local.port);
    await vi.waitFor(() => expect(messages).toHaveLength(n + 1));
  }
  expect(messages.map(({ flow }) => flow.remote.port)).toEqual([farPeer.port, 4711, 5060, 4711]);
  const topVias = messages.map(({ message }) => parseVia(message.headers.list("Via")[0] ?? ""));
  expect(topVias.map((via) => via?.params.get("received"))).toEqual(["127.0.0.1", "127.0.0.1", "127.0.0.1", undefined]);
  expect(topVias.map((via) => via?.params.get("rport"))).toEqual([
    String(farPeer.port),
    undefined,
    undefined,
    undefined,
  ]);
  expect(messages[3]?.message.headers.list("Via")[1]).toBe("SIP/2.0/UDP next;branch=z9hG4bK5");
});

test("malformed datagrams are counted, requests get 400", async () => {
  const farPeer = await peer();
  const { transports, messages } = trunk();
  const { local } = await transports.connect(hopTo(farPeer), never);
  farPeer.send("\r\n\r\n", local.port);
  farPeer.send("", local.port);
  farPeer.send("hello", local.port);
  farPeer.send(new TextDecoder().decode(writeMessage(options())).replace("1 OPTIONS", "one"), local.port);
  farPeer.send(writeMessage(options()), local.port);
  await vi.waitFor(() => expect(messages).toHaveLength(1));
  await vi.waitFor(() => expect(messagesOf(farPeer)).toHaveLength(1));
  expect(messagesOf(farPeer)[0]?.text).toMatch(/^SIP\/2\.0 400 CSeq cannot be read\r\n/);
  expect(transports.malformedCount).toBe(2);
});

test("sent-by is the configured, learned or bound address", async () => {
  const farPeer = await peer();
  const unnamedTrunk = trunk();
  const flow = await unnamedTrunk.transports.connect(hopTo(farPeer), never);
  unnamedTrunk.transports.learnAddress(flow, { address: "unknown", port: 5060 });
  unnamedTrunk.transports.learnAddress(flow, { address: "203.0.113.7", port: 0 });
  expect(unnamedTrunk.transports.sentBy(flow)).toBe(`127.0.0.1:${flow.local.port}`);
  unnamedTrunk.transports.learnAddress(flow, { address: "203.0.113.7", port: 40_001 });
  expect(unnamedTrunk.transports.sentBy(flow)).toBe("203.0.113.7:40001");
  const otherFlow = await unnamedTrunk.transports.connect(hopTo(await peer()), never);
  expect(unnamedTrunk.transports.sentBy(otherFlow)).toBe(`203.0.113.7:${flow.local.port}`); // the same host sees it
  for (const [publicAddress, expected] of [
    ["sip.example.com", "sip.example.com:40001"],
    ["sip.example.com:5070", "sip.example.com:5070"],
    ["2001:db8::1", "[2001:db8::1]:40001"],
    ["[2001:db8::1]:5070", "[2001:db8::1]:5070"],
  ] as const) {
    const { transports } = trunk({ publicAddress });
    const namedFlow = await transports.connect(hopTo(farPeer), never);
    transports.learnAddress(namedFlow, { address: "203.0.113.7", port: 40_001 });
    expect(transports.sentBy(namedFlow)).toBe(expected);
  }
});

test("a listener determines the port of the socket", async () => {
  const { transports } = trunk({ listen: { transport: "udp", port: 0, address: "127.0.0.1" } });
  await transports.ready();
  const flow = await transports.connect(hopTo(await peer()), never);
  expect(flow.local).toEqual(transports.listenerAddress);
});

test("a held flow sends CRLF keep-alives", async () => {
  const farPeer = await peer();
  const system = new ManualSystem();
  const { transports } = trunk({ system });
  const flow = await transports.connect(hopTo(farPeer), never);
  await vi.waitFor(() => expect(farPeer.received.length).toBeGreaterThan(0)); // the probe for a listener
  const countBefore = farPeer.received.length;
  const releases = [flow.hold(), flow.hold()];
  await system.advance(50_000);
  await vi.waitFor(() => expect(farPeer.received).toHaveLength(countBefore + 2));
  expect(farPeer.received.at(-1)).toMatchObject({ text: "\r\n\r\n", port: flow.local.port });
  for (const release of releases) release();
  await system.advance(100_000);
  expect(system.waiting).toBe(0);
});

// Deno does not connect UDP sockets, so it gets no ICMP: there the timers decide.
test.skipIf("Deno" in globalThis)("a closed port is reported without losses", async () => {
  const closedPeer = await datagramPeer();
  await closedPeer.close();
  const { transports, closed } = trunk();
  const flow = await transports.connect(hopTo(closedPeer), never);
  await vi.waitFor(() => expect(closed).toHaveLength(1));
  expect(closed[0]).toMatchObject({ flow, fault: { fault: "refused" } });
  expect(flow.isAlive).toBe(true); // a listener may return
  const reopenedPeer = resources.add(await datagramPeer("127.0.0.1", closedPeer.port));
  flow.send(options());
  await vi.waitFor(() => expect(messagesOf(reopenedPeer)).toHaveLength(1));
});

test.skipIf("Deno" in globalThis)("a closed port is avoided for a second unless it responds", async () => {
  const closedPeer = await datagramPeer();
  await closedPeer.close();
  const system = new ManualSystem();
  const { transports, closed, messages } = trunk({ system });
  const { local } = await transports.connect(hopTo(closedPeer), never);
  await vi.waitFor(() => expect(closed).toHaveLength(1));
  await expect(transports.connect(hopTo(closedPeer), never)).rejects.toMatchObject({ fault: "refused" });
  await system.advance(999);
  await expect(transports.connect(hopTo(closedPeer), never)).rejects.toMatchObject({ fault: "refused" });
  const reopenedPeer = resources.add(await datagramPeer("127.0.0.1", closedPeer.port));
  reopenedPeer.send(writeMessage(options()), local.port);
  await vi.waitFor(() => expect(messages).toHaveLength(1));
  await transports.connect(hopTo(closedPeer), never);
});

test("without CRLF probes, peers receive only messages", async () => {
  const farPeer = await peer();
  const system = new ManualSystem();
  const { transports } = trunk({ system, crlfProbe: false });
  for (let n = 1; n <= 3; n++) {
    const flow = await transports.connect(hopTo(farPeer), never);
    expect(flow.local.address).toBe("127.0.0.1");
    flow.send(options());
    await vi.waitFor(() => expect(messagesOf(farPeer)).toHaveLength(n));
    await system.advance(6_000); // the route is looked up again
  }
  expect(farPeer.received).toHaveLength(3);
  expect(new Set(farPeer.received.map(({ port }) => port)).size).toBe(1);
});

test("an address of the other family is unreachable", async () => {
  const { transports } = trunk({ localAddress: "127.0.0.1" });
  await expect(transports.connect(hopTo({ address: "::1", port: 5060 }), never)).rejects.toMatchObject({
    fault: "unreachable",
  });
});

test("closing at any moment leaves no socket or timer", async () => {
  const farPeer = await peer();
  const system = new ManualSystem();
  const { transports } = trunk({ system });
  const flow = await transports.connect(hopTo(farPeer), never);
  flow.hold();
  const connecting = transports.connect(hopTo({ address: "127.0.0.1", port: 9 }), never).catch(() => {});
  await transports.close();
  await connecting;
  expect(system.waiting).toBe(0);
  expect(() => flow.send(options())).toThrow("closed");
  const reopenedPeer = resources.add(await datagramPeer("127.0.0.1", flow.local.port)); // the port is free
  expect(reopenedPeer.port).toBe(flow.local.port);
});
