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
  type Observed,
  Opened,
  observe,
  options,
  type StreamPeer,
  streamPeer,
} from "./sockets.ts";

const opened = new Opened();
afterEach(() => opened.close());

async function peer(...args: Parameters<typeof streamPeer>): Promise<StreamPeer> {
  return opened.add(await streamPeer(...args));
}

function trunk(...args: Parameters<typeof observe>): Observed {
  return opened.add(observe(...args));
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
  const plain = await peer({ address: "::1" });
  const secure = await peer({ address: "::1", tls: authority.issue({ names: ["::1"] }) });
  const { transports } = trunk({ tls: { ca: authority.ca } });
  const flows = [
    await transports.connect(hopTo(plain.port, "::1"), never),
    await transports.connect({ ...hopTo(secure.port, "::1"), kind: "tls" }, never),
  ];
  for (const flow of flows) {
    expect(flow.remote.address).toBe("::1");
    expect(transports.sentBy(flow)).toBe(`[::1]:${flow.local.port}`);
    flow.send(options());
  }
  await vi.waitFor(() => expect([plain.received(), secure.received()].join()).toMatch(/OPTIONS.*OPTIONS/s));
});

test("a refused connection can be tried again", async () => {
  const closedPeer = await streamPeer();
  await closedPeer.close();
  const { transports } = trunk();
  const refused = {
    fault: "refused",
    message: `connecting to TCP 127.0.0.1 port ${closedPeer.port} failed: nothing listens on this port`,
  };
  await expect(transports.connect(hopTo(closedPeer.port), never)).rejects.toMatchObject(refused);
  await expect(transports.connect(hopTo(closedPeer.port), never)).rejects.toMatchObject(refused);
});

test("a connection attempt times out", async () => {
  const { transports } = trunk({ connectTimeoutMs: 50, tls: { insecure: true } });
  const { port } = await peer(); // accepts the connection, but does not speak TLS
  await expect(transports.connect({ ...hopTo(port), kind: "tls" }, never)).rejects.toMatchObject({ fault: "timeout" });
});

test("a connection attempt can be aborted", async () => {
  const { transports } = trunk({ tls: { insecure: true } });
  const { port } = await peer();
  const patience = new AbortController();
  const connecting = transports.connect({ ...hopTo(port), kind: "tls" }, patience.signal);
  patience.abort();
  await expect(connecting).rejects.toMatchObject({ fault: "closed" });
});

test("messages are framed wherever the stream is split", async () => {
  const { port, sockets } = await peer();
  const { transports, messages } = trunk();
  const flow = await transports.connect(hopTo(port), never);
  await vi.waitFor(() => expect(sockets).toHaveLength(1));
  const stream = text() + text("SIP/2.0 180 Ringing", "a body") + text("SIP/2.0 200 Fine");
  for (let at = 0; at < stream.length; at += 97) {
    sockets[0]?.write(stream.slice(at, at + 97));
    await new Promise((turn) => setImmediate(turn));
  }
  await vi.waitFor(() => expect(messages).toHaveLength(3));
  expect(messages.map(({ message }) => message.kind === "response" && message.reason)).toEqual([
    "OK",
    "Ringing",
    "Fine",
  ]);
  expect(messages.every((one) => one.flow === flow)).toBe(true);
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
  expect(transports.malformed).toBe(1);
});

test("a peer that sends a header of 10 MB is disconnected with a response", async () => {
  const { port, sockets } = await peer();
  const { transports, closed } = trunk();
  const flow = await transports.connect(hopTo(port), never);
  await vi.waitFor(() => expect(sockets).toHaveLength(1));
  const [socket] = sockets;
  const gone = new Promise((close) => socket?.once("close", close));
  socket?.write(`OPTIONS sip:us@example.com SIP/2.0\r\nVia: ${"x".repeat(10 << 20)}`);
  await vi.waitFor(() => expect(closed).toHaveLength(1), 5_000);
  expect(closed[0]).toMatchObject({
    flow,
    fault: { fault: "closed", message: expect.stringContaining("larger than 64 KiB") },
  });
  expect(flow.alive).toBe(false);
  expect(() => flow.send(options())).toThrow("64 KiB");
  await gone;
  expect((await transports.connect(hopTo(port), never)).alive).toBe(true);
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
  const letGo = flow.hold();
  await system.advance(10 * 60_000);
  expect(flow.alive).toBe(true);
  await vi.waitFor(() => expect(received()).toBe("\r\n\r\n".repeat(20)));
  letGo();
  letGo();
  await system.advance(10 * 60_000);
  expect(flow.alive).toBe(false);
  await vi.waitFor(() => expect(closed).toHaveLength(1));
  expect(received()).toHaveLength(80);
});

test("an accepted connection is closed after 30 s without a message", async () => {
  const system = new ManualSystem();
  const ours = trunk({ system, listen: { transport: "tcp", port: 0, address: "127.0.0.1" } });
  await ours.transports.ready();
  const far = trunk();
  const way = hopTo(ours.transports.listening?.port ?? 0);
  const silent = await far.transports.connect(way, never);
  await system.advance(30_000);
  await vi.waitFor(() => expect(silent.alive).toBe(false));
  const speaking = await far.transports.connect(way, never);
  speaking.send(options());
  await vi.waitFor(() => expect(ours.messages).toHaveLength(1));
  await system.advance(4 * 60_000);
  await new Promise((turn) => setTimeout(turn, 20));
  expect(speaking.alive).toBe(true);
  await system.advance(2 * 60_000);
  await vi.waitFor(() => expect(speaking.alive).toBe(false));
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
  for (let n = 0; n < 200 && flow.alive; n++) flow.send(options(undefined, body));
  expect(flow.alive).toBe(false);
  await vi.waitFor(() => expect(closed[0]?.fault).toMatchObject({ fault: "limit" }));
});

test.each(["tcp", "tls"] as const)("a peer connecting over %s gets responses there", async (transport) => {
  const authority = certificateAuthority();
  const ours = trunk({
    listen: { transport, port: 0, address: "127.0.0.1" },
    tls: authority.issue({ names: ["sip.example.com"] }),
    publicAddress: "sip.example.com",
  });
  await ours.transports.ready();
  const { port = 0 } = ours.transports.listening ?? {};
  const far = trunk({ tls: { ca: authority.ca } });
  const way = await far.transports.connect({ ...hopTo(port), kind: transport, host: "sip.example.com" }, never);
  way.send(options(`SIP/2.0/${transport.toUpperCase()} 192.0.2.9;branch=z9hG4bKbye;rport`));
  await vi.waitFor(() => expect(ours.messages).toHaveLength(1));
  const [came] = ours.messages;
  const via = parseVia(came?.message.headers.get("Via") ?? "");
  expect(via?.params.get("received")).toBe("127.0.0.1");
  expect(via?.params.get("rport")).toBe(String(way.local.port));
  expect(ours.transports.sentBy(came!.flow)).toBe(`sip.example.com:${port}`);
  came?.flow.send({
    kind: "response",
    status: 200,
    reason: "OK",
    headers: came.message.headers,
    body: new Uint8Array(0),
  });
  await vi.waitFor(() => expect(far.messages[0]?.message).toMatchObject({ status: 200 }));
});

test("a listener reports a port in use and a missing certificate", async () => {
  const { port } = await peer();
  const taken = trunk({ listen: { transport: "tcp", port, address: "127.0.0.1" } });
  await expect(taken.transports.ready()).rejects.toThrow(
    `listening on TCP port ${port} failed: another program uses this port`,
  );
  const { port: datagrams } = opened.add(await datagramPeer());
  const udp = trunk({ listen: { transport: "udp", port: datagrams, address: "127.0.0.1" } });
  await expect(udp.transports.ready()).rejects.toThrow("another program uses this port");
  const bare = trunk({ listen: { transport: "tls", port: 0 } });
  await expect(bare.transports.ready()).rejects.toThrow("the certificate is missing; set tls.cert and tls.key");
});

test("closing ends accepted connections during their TLS handshake", async () => {
  const ours = trunk({
    listen: { transport: "tls", port: 0, address: "127.0.0.1" },
    tls: certificateAuthority().issue(),
  });
  await ours.transports.ready();
  const far = trunk();
  const silent = await far.transports.connect(hopTo(ours.transports.listening?.port ?? 0), never);
  await new Promise((turn) => setTimeout(turn, 20));
  await ours.transports.close();
  await vi.waitFor(() => expect(silent.alive).toBe(false));
});

test("closing ends all connections, even those being opened", async () => {
  const { port } = await peer();
  const system = new ManualSystem();
  const ours = trunk({ system, listen: { transport: "tcp", port: 0, address: "127.0.0.1" }, tls: { insecure: true } });
  await ours.transports.ready();
  const flow = await ours.transports.connect(hopTo(port), never);
  flow.hold();
  const half = ours.transports.connect({ ...hopTo(port), kind: "tls" }, never);
  const outside = trunk();
  const inside = await outside.transports.connect(hopTo(ours.transports.listening?.port ?? 0), never);
  await Promise.all([
    ours.transports.close(),
    ours.transports.close(),
    expect(half).rejects.toMatchObject({ fault: "closed" }),
  ]);
  expect(flow.alive).toBe(false);
  await vi.waitFor(() => expect(inside.alive).toBe(false));
  expect(system.waiting).toBe(0);
  await expect(ours.transports.connect(hopTo(port), never)).rejects.toThrow("the trunk was closed");
});
