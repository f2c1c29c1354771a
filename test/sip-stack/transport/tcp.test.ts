import { afterEach, expect, test, vi } from "vitest";
import { parseVia } from "../../../adapters/sip-stack/message/header-values.ts";
import { writeMessage } from "../../../adapters/sip-stack/message/write-message.ts";
import type { Hop } from "../../../adapters/sip-stack/transport/transport.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";
import { certificateAuthority } from "../../support/certificates.ts";
import {
  datagramPeer,
  hasLoopback6,
  never,
  type ObservedTrunk,
  observe,
  options,
  type StreamPeer,
  streamPeer,
  TestResources,
} from "./sockets.ts";

const resources = new TestResources();
afterEach(() => resources.close());

async function peer(...args: Parameters<typeof streamPeer>): Promise<StreamPeer> {
  return resources.add(await streamPeer(...args));
}

function trunk(...args: Parameters<typeof observe>): ObservedTrunk {
  return resources.add(observe(...args));
}

function hopTo(port: number, address = "127.0.0.1"): Hop {
  return { kind: "tcp", address, port, host: address };
}

/** A SIP message with a unique Via. */
function text(status = "SIP/2.0 200 OK", body = ""): string {
  return new TextDecoder().decode(writeMessage(options(undefined, body))).replace(/^.*(?=\r\n)/, status);
}

test("a connection to a hop is reused, even while it is being opened", async () => {
  const { port, sockets } = await peer();
  const { transports } = trunk();
  const hop = hopTo(port);
  const flows = await Promise.all([transports.connect(hop, never), transports.connect(hop, never)]);
  flows.push(await transports.connect(hop, never));
  expect(new Set(flows).size).toBe(1);
  await vi.waitFor(() => expect(sockets).toHaveLength(1));
});

test.skipIf(!hasLoopback6)("an IPv6 connection's address has brackets", async () => {
  const authority = certificateAuthority();
  const tcpPeer = await peer({ address: "::1" });
  const tlsPeer = await peer({ address: "::1", tls: authority.issue({ names: ["::1"] }) });
  const { transports } = trunk({ tls: { ca: authority.ca } });
  const flows = [
    await transports.connect(hopTo(tcpPeer.port, "::1"), never),
    await transports.connect({ ...hopTo(tlsPeer.port, "::1"), kind: "tls" }, never),
  ];
  for (const flow of flows) {
    expect(flow.remote.address).toBe("::1");
    expect(transports.sentBy(flow)).toBe(`[::1]:${flow.local.port}`);
    flow.send(options());
  }
  await vi.waitFor(() => expect([tcpPeer.received(), tlsPeer.received()].join()).toMatch(/OPTIONS.*OPTIONS/s));
});

test("a refused connection can be tried again", async () => {
  const closedPeer = await streamPeer();
  await closedPeer.close();
  const { transports } = trunk();
  const refusal = {
    fault: "refused",
    message: `connecting to TCP 127.0.0.1 port ${closedPeer.port} failed: nothing listens on this port`,
  };
  await expect(transports.connect(hopTo(closedPeer.port), never)).rejects.toMatchObject(refusal);
  await expect(transports.connect(hopTo(closedPeer.port), never)).rejects.toMatchObject(refusal);
});

test("a connection attempt times out", async () => {
  const { transports } = trunk({ connectTimeoutMs: 50, tls: { insecure: true } });
  const { port } = await peer(); // accepts the connection, but does not speak TLS
  await expect(transports.connect({ ...hopTo(port), kind: "tls" }, never)).rejects.toMatchObject({ fault: "timeout" });
});

test("a connection attempt can be aborted", async () => {
  const { transports } = trunk({ tls: { insecure: true } });
  const { port } = await peer();
  const controller = new AbortController();
  const connecting = transports.connect({ ...hopTo(port), kind: "tls" }, controller.signal);
  controller.abort();
  await expect(connecting).rejects.toMatchObject({ fault: "closed" });
});

test("messages are framed wherever the stream is split", async () => {
  const { port, sockets } = await peer();
  const { transports, messages } = trunk();
  const flow = await transports.connect(hopTo(port), never);
  await vi.waitFor(() => expect(sockets).toHaveLength(1));
  const stream = text() + text("SIP/2.0 180 Ringing", "a body") + text("SIP/2.0 200 Fine");
  for (let start = 0; start < stream.length; start += 97) {
    sockets[0]?.write(stream.slice(start, start + 97));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await vi.waitFor(() => expect(messages).toHaveLength(3));
  expect(messages.map(({ message }) => message.kind === "response" && message.reason)).toEqual([
    "OK",
    "Ringing",
    "Fine",
  ]);
  expect(messages.every((entry) => entry.flow === flow)).toBe(true);
});

test("a malformed request gets 400 on the same connection", async () => {
  const { port, sockets, received } = await peer();
  const { transports, messages } = trunk();
  await transports.connect(hopTo(port), never);
  await vi.waitFor(() => expect(sockets).toHaveLength(1));
  sockets[0]?.write(text("OPTIONS sip:us@example.com SIP/2.0").replace("1 OPTIONS", "one OPTIONS"));
  sockets[0]?.write(text());
  await vi.waitFor(() => expect(received()).toMatch(/^SIP\/2\.0 400 /));
  await vi.waitFor(() => expect(messages).toHaveLength(1));
  expect(transports.malformedCount).toBe(1);
});

test("a peer that sends a header of 10 MB is disconnected with a response", async () => {
  const { port, sockets } = await peer();
  const { transports, closed } = trunk();
  const flow = await transports.connect(hopTo(port), never);
  await vi.waitFor(() => expect(sockets).toHaveLength(1));
  const [socket] = sockets;
  const socketClosed = new Promise((resolve) => socket?.once("close", resolve));
  socket?.write(`OPTIONS sip:us@example.com SIP/2.0\r\nVia: ${"x".repeat(10 << 20)}`);
  await vi.waitFor(() => expect(closed).toHaveLength(1), 5_000);
  expect(closed[0]).toMatchObject({
    flow,
    fault: { fault: "closed", message: expect.stringContaining("larger than 64 KiB") },
  });
  expect(flow.isAlive).toBe(false);
  expect(() => flow.send(options())).toThrow("64 KiB");
  await socketClosed;
  expect((await transports.connect(hopTo(port), never)).isAlive).toBe(true);
});

test("a connection closed by its peer is replaced", async () => {
  const { port, sockets } = await peer();
  const { transports, closed } = trunk();
  const flow = await transports.connect(hopTo(port), never);
  await vi.waitFor(() => expect(sockets).toHaveLength(1));
  sockets[0]?.end();
  await vi.waitFor(() => expect(closed).toHaveLength(1));
  expect(closed[0]).toMatchObject({ flow, fault: { fault: "closed" } });
  expect(() => flow.send(options())).toThrow("is closed");
  expect(await transports.connect(hopTo(port), never)).not.toBe(flow);
});

test("a ping gets a response, a pong does not", async () => {
  const { port, sockets, received } = await peer();
  const { transports } = trunk();
  await transports.connect(hopTo(port), never);
  await vi.waitFor(() => expect(sockets).toHaveLength(1));
  sockets[0]?.write("\r\n\r\n");
  await vi.waitFor(() => expect(received()).toBe("\r\n"));
});

test("a connection closes after five idle minutes", async () => {
  const { port, received } = await peer();
  const system = new ManualSystem();
  const { transports, closed } = trunk({ system });
  const flow = await transports.connect(hopTo(port), never);
  const release = flow.hold();
  await system.advance(10 * 60_000);
  expect(flow.isAlive).toBe(true);
  await vi.waitFor(() => expect(received()).toBe("\r\n\r\n".repeat(20)));
  release();
  release();
  await system.advance(10 * 60_000);
  expect(flow.isAlive).toBe(false);
  await vi.waitFor(() => expect(closed).toHaveLength(1));
  expect(received()).toHaveLength(80);
});

test("an accepted connection is closed after 30 s without a message", async () => {
  const system = new ManualSystem();
  const ourTrunk = trunk({ system, listen: { transport: "tcp", port: 0, address: "127.0.0.1" } });
  await ourTrunk.transports.ready();
  const farTrunk = trunk();
  const hop = hopTo(ourTrunk.transports.listenerAddress?.port ?? 0);
  const silentFlow = await farTrunk.transports.connect(hop, never);
  await system.advance(30_000);
  await vi.waitFor(() => expect(silentFlow.isAlive).toBe(false));
  const activeFlow = await farTrunk.transports.connect(hop, never);
  activeFlow.send(options());
  await vi.waitFor(() => expect(ourTrunk.messages).toHaveLength(1));
  await system.advance(4 * 60_000);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(activeFlow.isAlive).toBe(true);
  await system.advance(2 * 60_000);
  await vi.waitFor(() => expect(activeFlow.isAlive).toBe(false));
});

test("an unfinished message closes the connection", async () => {
  const { port, sockets } = await peer();
  const system = new ManualSystem();
  const { transports, closed } = trunk({ system });
  await transports.connect(hopTo(port), never);
  await vi.waitFor(() => expect(sockets).toHaveLength(1));
  sockets[0]?.write("OPTIONS sip:us@example.com SIP/2.0\r\n");
  await vi.waitFor(() => expect(system.waiting).toBe(2)); // idle, and the rest of the message
  await system.advance(30_000);
  await vi.waitFor(() => expect(closed[0]?.fault).toMatchObject({ fault: "timeout" }));
});

test("a peer that does not read is disconnected", async () => {
  const { port, sockets } = await peer();
  const { transports, closed } = trunk();
  const flow = await transports.connect(hopTo(port), never);
  await vi.waitFor(() => expect(sockets).toHaveLength(1));
  sockets[0]?.pause();
  const body = "x".repeat(200_000);
  for (let n = 0; n < 200 && flow.isAlive; n++) flow.send(options(undefined, body));
  expect(flow.isAlive).toBe(false);
  await vi.waitFor(() => expect(closed[0]?.fault).toMatchObject({ fault: "limit" }));
});

test.each(["tcp", "tls"] as const)("a peer connecting over %s gets responses there", async (transport) => {
  const authority = certificateAuthority();
  const ourTrunk = trunk({
    listen: { transport, port: 0, address: "127.0.0.1" },
    tls: authority.issue({ names: ["sip.example.com"] }),
    publicAddress: "sip.example.com",
  });
  await ourTrunk.transports.ready();
  const { port = 0 } = ourTrunk.transports.listenerAddress ?? {};
  const farTrunk = trunk({ tls: { ca: authority.ca } });
  const farFlow = await farTrunk.transports.connect(
    { ...hopTo(port), kind: transport, host: "sip.example.com" },
    never,
  );
  farFlow.send(options(`SIP/2.0/${transport.toUpperCase()} 192.0.2.9;branch=z9hG4bKbye;rport`));
  await vi.waitFor(() => expect(ourTrunk.messages).toHaveLength(1));
  const [incoming] = ourTrunk.messages;
  const via = parseVia(incoming?.message.headers.get("Via") ?? "");
  expect(via?.params.get("received")).toBe("127.0.0.1");
  expect(via?.params.get("rport")).toBe(String(farFlow.local.port));
  expect(ourTrunk.transports.sentBy(incoming!.flow)).toBe(`sip.example.com:${port}`);
  incoming?.flow.send({
    kind: "response",
    status: 200,
    reason: "OK",
    headers: incoming.message.headers,
    body: new Uint8Array(0),
  });
  await vi.waitFor(() => expect(farTrunk.messages[0]?.message).toMatchObject({ status: 200 }));
});

test("a listener reports a port in use and a missing certificate", async () => {
  const { port } = await peer();
  const conflictingTrunk = trunk({ listen: { transport: "tcp", port, address: "127.0.0.1" } });
  await expect(conflictingTrunk.transports.ready()).rejects.toThrow(
    `listening on TCP port ${port} failed: another program uses this port`,
  );
  const { port: datagramPort } = resources.add(await datagramPeer());
  const udp = trunk({ listen: { transport: "udp", port: datagramPort, address: "127.0.0.1" } });
  await expect(udp.transports.ready()).rejects.toThrow("another program uses this port");
  const withoutCertificate = trunk({ listen: { transport: "tls", port: 0 } });
  await expect(withoutCertificate.transports.ready()).rejects.toThrow(
    "the certificate is missing; set tls.cert and tls.key",
  );
});

test("closing ends accepted connections during their TLS handshake", async () => {
  const ourTrunk = trunk({
    listen: { transport: "tls", port: 0, address: "127.0.0.1" },
    tls: certificateAuthority().issue(),
  });
  await ourTrunk.transports.ready();
  const farTrunk = trunk();
  const silentFlow = await farTrunk.transports.connect(hopTo(ourTrunk.transports.listenerAddress?.port ?? 0), never);
  await new Promise((resolve) => setTimeout(resolve, 20));
  await ourTrunk.transports.close();
  await vi.waitFor(() => expect(silentFlow.isAlive).toBe(false));
});

test("closing ends all connections, even those being opened", async () => {
  const { port } = await peer();
  const system = new ManualSystem();
  const ourTrunk = trunk({
    system,
    listen: { transport: "tcp", port: 0, address: "127.0.0.1" },
    tls: { insecure: true },
  });
  await ourTrunk.transports.ready();
  const flow = await ourTrunk.transports.connect(hopTo(port), never);
  flow.hold();
  const pendingConnection = ourTrunk.transports.connect({ ...hopTo(port), kind: "tls" }, never);
  const peerTrunk = trunk();
  const peerFlow = await peerTrunk.transports.connect(hopTo(ourTrunk.transports.listenerAddress?.port ?? 0), never);
  await Promise.all([
    ourTrunk.transports.close(),
    ourTrunk.transports.close(),
    expect(pendingConnection).rejects.toMatchObject({ fault: "closed" }),
  ]);
  expect(flow.isAlive).toBe(false);
  await vi.waitFor(() => expect(peerFlow.isAlive).toBe(false));
  expect(system.waiting).toBe(0);
  await expect(ourTrunk.transports.connect(hopTo(port), never)).rejects.toThrow("the trunk was closed");
});
