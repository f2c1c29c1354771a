import { afterEach, expect, test, vi } from "vitest";
import { writeMessage } from "../../../adapters/sip-stack/message/write-message.ts";
import type { Hop } from "../../../adapters/sip-stack/transport/transport.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";
import { field, methodOf, readSip, type SipText, writeSip } from "../../support/sip/sip-text.ts";
import { LiveAgent, type LiveCall } from "../dialog/support/live-agent.ts";
import { openTrunk, request, send, type Trunk } from "../transaction/trunk.ts";
import { never, observe, options, type StreamPeer, streamPeer, TestResources } from "./sockets.ts";

const resources = new TestResources();
afterEach(() => resources.close());

async function peer(): Promise<StreamPeer> {
  return resources.add(await streamPeer());
}

function hopTo({ port }: StreamPeer): Hop {
  return { kind: "tcp", address: "127.0.0.1", port, host: "127.0.0.1" };
}

function uriOf({ port }: StreamPeer): string {
  return `sip:127.0.0.1:${port};transport=tcp`;
}

function trunk(system: ManualSystem): Trunk {
  const layers = openTrunk({ system });
  resources.add(layers.transactions);
  return layers;
}

/** A connection to a peer, which stays open until it dies. */
async function heldConnection() {
  const peerEnd = await peer();
  const system = new ManualSystem();
  const observedAgent = resources.add(observe({ system }));
  const flow = await observedAgent.transports.connect(hopTo(peerEnd), never);
  flow.hold();
  await vi.waitFor(() => expect(peerEnd.sockets).toHaveLength(1));
  return { ...observedAgent, peerEnd, system, flow };
}

/** Response to a keep-alive, after a message that shows its arrival. */
const PONG: string = `${new TextDecoder().decode(writeMessage(options()))}\r\n`;

const SDP =
  "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 9 RTP/AVP 0\r\na=rtpmap:0 PCMU/8000\r\n";

/** A 200 to the request that the peer has read. */
function ok(text: string, contact: string): Buffer {
  const message = readSip(Buffer.from(text, "latin1"));
  const body = methodOf(message) === "INVITE" ? SDP : "";
  const copiedFields = ["Via", "From", "Call-ID", "CSeq"].map((name) => [name, field(message, name)] as const);
  const to = field(message, "To").includes("tag=") ? field(message, "To") : `${field(message, "To")};tag=them`;
  return writeSip({
    start: "SIP/2.0 200 OK",
    fields: [...copiedFields, ["To", to], ["Contact", contact], ["Content-Type", "application/sdp"]],
    body,
  });
}

test("an unanswered keep-alive closes the connection after 10 s", async () => {
  const { peerEnd, system, flow, transports, closed, messages } = await heldConnection();
  await system.advance(30_000);
  await vi.waitFor(() => expect(peerEnd.received()).toBe("\r\n\r\n"));
  peerEnd.sockets[0]?.write(PONG);
  await vi.waitFor(() => expect(messages).toHaveLength(1));
  await system.advance(30_000);
  await vi.waitFor(() => expect(peerEnd.received()).toBe("\r\n\r\n\r\n\r\n"));
  await system.advance(9_999);
  expect(flow.isAlive).toBe(true);
  await system.advance(1);
  expect(flow.isAlive).toBe(false);
  await vi.waitFor(() => expect(closed[0]?.fault.message).toContain("did not respond to a keep-alive within 10 s"));
  expect(await transports.connect(hopTo(peerEnd), never)).not.toBe(flow);
  await vi.waitFor(() => expect(peerEnd.sockets).toHaveLength(2));
});

test("an answered keep-alive keeps the connection", async () => {
  const { peerEnd, system, flow, messages } = await heldConnection();
  for (let n = 1; n <= 3; n++) {
    await system.advance(30_000);
    await vi.waitFor(() => expect(peerEnd.received()).toBe("\r\n\r\n".repeat(n)));
    peerEnd.sockets[0]?.write(PONG);
    await vi.waitFor(() => expect(messages).toHaveLength(n));
  }
  await system.advance(20_000);
  expect(flow.isAlive).toBe(true);
});

test.each([
  ["before our first keep-alive", 0],
  ["10 s after one of our keep-alives", 40_000],
])("a CRLF %s does not count as a response to a keep-alive", async (_, atMs) => {
  const { peerEnd, system, flow, messages } = await heldConnection();
  await system.advance(atMs);
  peerEnd.sockets[0]?.write(PONG);
  await vi.waitFor(() => expect(messages).toHaveLength(1));
  await system.advance(60_000);
  await vi.waitFor(() =>
    expect(peerEnd.received()).toBe("\r\n\r\n".repeat((60_000 + atMs - (atMs % 30_000)) / 30_000)),
  );
  await system.advance(15_000);
  expect(flow.isAlive).toBe(true);
});

test("a peer with its own keep-alives stays connected", async () => {
  const { peerEnd, system, flow, messages } = await heldConnection();
  await system.advance(10_000);
  for (let n = 1; n <= 6; n++) {
    peerEnd.sockets[0]?.write(PONG); // the second one 5 s after our keep-alive
    await vi.waitFor(() => expect(messages).toHaveLength(n));
    await system.advance(25_000);
    expect(flow.isAlive).toBe(true);
  }
});

test("a connection silent until timer F is replaced", async () => {
  const remotePeer = await peer();
  const system = new ManualSystem();
  const { transactions } = trunk(system);
  const first = send(transactions, request("OPTIONS", uriOf(remotePeer)), uriOf(remotePeer));
  await vi.waitFor(() => expect(remotePeer.received()).toContain("OPTIONS"));
  remotePeer.sockets[0]?.write(ok(remotePeer.received(), "<sip:127.0.0.1>"));
  expect(await first.end).toMatchObject({ status: 200 });
  const unansweredRequest = send(transactions, request("OPTIONS", uriOf(remotePeer)), uriOf(remotePeer));
  await vi.waitFor(() => expect(remotePeer.received().match(/OPTIONS sip/g)).toHaveLength(2));
  await system.advance(32_000);
  expect(await unansweredRequest.end).toMatchObject({ message: expect.stringContaining("no response within 32 s") });
  const next = send(transactions, request("OPTIONS", uriOf(remotePeer)), uriOf(remotePeer));
  await vi.waitFor(() => expect(remotePeer.sockets).toHaveLength(2));
  await vi.waitFor(() => expect(remotePeer.received().match(/OPTIONS sip/g)).toHaveLength(3));
  remotePeer.sockets[1]?.write(
    ok(remotePeer.received().slice(remotePeer.received().lastIndexOf("OPTIONS sip")), "<sip:127.0.0.1>"),
  );
  expect(await next.end).toMatchObject({ status: 200 });
});

test("a connection with data outlives an unanswered request", async () => {
  const remotePeer = await peer();
  const system = new ManualSystem();
  const { transactions } = trunk(system);
  const first = send(transactions, request("OPTIONS", uriOf(remotePeer)), uriOf(remotePeer));
  await vi.waitFor(() => expect(remotePeer.received()).toContain("OPTIONS"));
  const second = send(transactions, request("OPTIONS", uriOf(remotePeer)), uriOf(remotePeer));
  await vi.waitFor(() => expect(remotePeer.received().match(/OPTIONS sip/g)).toHaveLength(2));
  remotePeer.sockets[0]?.write(
    ok(remotePeer.received().slice(remotePeer.received().lastIndexOf("OPTIONS sip")), "<sip:127.0.0.1>"),
  );
  expect(await second.end).toMatchObject({ status: 200 });
  await system.advance(32_000);
  expect(await first.end).toMatchObject({ fault: "timeout" });
  expect(second.flows[0]?.isAlive).toBe(true);
});

test("a BYE lost on a dead connection is sent on a new one", async () => {
  const remotePeer = await peer();
  const system = new ManualSystem();
  const live = resources.add(new LiveAgent(uriOf(remotePeer), { system }));
  const call = live.call("bob");
  await vi.waitFor(() => expect(remotePeer.received()).toContain("a=rtpmap"));
  remotePeer.sockets[0]?.write(ok(remotePeer.received(), `<${uriOf(remotePeer)}>`));
  await call.until("answered");
  await vi.waitFor(() => expect(remotePeer.received()).toContain("ACK sip"));
  const hangUpPromise = call.usage.hangUp();
  await vi.waitFor(() => expect(remotePeer.received()).toContain("BYE sip"));
  await system.advance(4_000);
  await hangUpPromise;
  await system.advance(28_000);
  await vi.waitFor(() => expect(remotePeer.sockets).toHaveLength(2));
  await vi.waitFor(() => expect(remotePeer.received().match(/BYE sip/g)).toHaveLength(2));
  expect(remotePeer.sockets[1]?.bytesRead).toBeGreaterThan(0);
});

/** A user agent whose connection to the peer has delivered a response once. */
async function provenAgent(remotePeer: StreamPeer, system?: ManualSystem): Promise<LiveAgent> {
  const live = resources.add(new LiveAgent(uriOf(remotePeer), system && { system }));
  const reply = live.agent.request({ method: "OPTIONS", uri: uriOf(remotePeer) });
  await vi.waitFor(() => expect(remotePeer.received()).toContain("OPTIONS"));
  remotePeer.sockets[0]?.write(ok(remotePeer.received(), "<sip:127.0.0.1>"));
  await reply;
  return live;
}

/** Every INVITE that the peer has read completely, on all connections. */
function invites(remotePeer: StreamPeer): SipText[] {
  const parts = remotePeer.received().split(/(?=INVITE sip)/);
  return parts.filter((text) => /^INVITE sip.*a=rtpmap/s.test(text)).map((text) => readSip(Buffer.from(text)));
}

/** Accepts the call of the last INVITE on a connection, and its BYE. */
async function acceptCall(remotePeer: StreamPeer, n: number, call: LiveCall): Promise<void> {
  const socket = remotePeer.sockets[n]!;
  socket.write(
    ok(remotePeer.received().slice(remotePeer.received().lastIndexOf("INVITE sip")), `<${uriOf(remotePeer)}>`),
  );
  await call.until("answered");
  socket.on("data", (bytes: Buffer) => {
    const bye = bytes.indexOf("BYE sip");
    if (bye >= 0) socket.write(ok(bytes.subarray(bye).toString("latin1"), "<sip:127.0.0.1>"));
  });
  await call.usage.hangUp();
}

/** Key by which a server detects a copy of a request (RFC 3261 section 8.2.2.2). */
const idsOf = (text: SipText): string[] => ["Call-ID", "From", "CSeq"].map((name) => field(text, name));

test("an INVITE on a closing connection is sent again", async () => {
  const remotePeer = await peer();
  const live = await provenAgent(remotePeer);
  remotePeer.sockets[0]?.once("data", () => remotePeer.sockets[0]?.resetAndDestroy());
  const call = live.call("bob");
  await vi.waitFor(() => expect(invites(remotePeer)).toHaveLength(2));
  const [first, second] = invites(remotePeer);
  expect(idsOf(second!)).toEqual(idsOf(first!));
  expect(field(second!, "Via")).not.toBe(field(first!, "Via"));
  await acceptCall(remotePeer, 1, call);
  expect(call.log).toEqual(["placed", "answered", "ended released"]);
});

test("an INVITE on a connection silent for 4 s is sent again", async () => {
  const remotePeer = await peer();
  const system = new ManualSystem();
  const live = await provenAgent(remotePeer, system);
  const call = live.call("bob");
  await vi.waitFor(() => expect(invites(remotePeer)).toHaveLength(1));
  await system.advance(3_999);
  expect(remotePeer.sockets).toHaveLength(1);
  await system.advance(1);
  await vi.waitFor(() => expect(invites(remotePeer)).toHaveLength(2));
  expect(remotePeer.sockets).toHaveLength(2);
  expect(idsOf(invites(remotePeer)[1]!)).toEqual(idsOf(invites(remotePeer)[0]!));
  await acceptCall(remotePeer, 1, call);
  expect(remotePeer.sockets[0]?.readableEnded).toBe(false); // other calls may use it
  await system.advance(32_000);
  await vi.waitFor(() => expect(remotePeer.sockets[0]?.readableEnded).toBe(true));
});

test("a slow server that rings on the old connection gets CANCEL", async () => {
  const remotePeer = await peer();
  const system = new ManualSystem();
  const live = await provenAgent(remotePeer, system);
  const call = live.call("bob");
  await vi.waitFor(() => expect(invites(remotePeer)).toHaveLength(1));
  const slowInvite = remotePeer.received().slice(remotePeer.received().lastIndexOf("INVITE sip"));
  await system.advance(4_000);
  await vi.waitFor(() => expect(invites(remotePeer)).toHaveLength(2));
  const copy = remotePeer.received().slice(remotePeer.received().lastIndexOf("INVITE sip"));
  remotePeer.sockets[0]?.write(ok(slowInvite, "<sip:127.0.0.1>").toString().replace("200 OK", "180 Ringing"));
  await vi.waitFor(() => expect(remotePeer.received()).toContain("CANCEL sip"));
  remotePeer.sockets[1]?.write(ok(copy, "<sip:127.0.0.1>").toString().replace("200 OK", "482 Request Merged"));
  await call.until("ended rejected");
  expect(call.log).not.toContain("ringing");
});

test("an INVITE is not repeated on a new, responsive or live connection", async () => {
  const newPeer = await peer();
  const live = resources.add(new LiveAgent(uriOf(newPeer)));
  const first = live.call("bob");
  await vi.waitFor(() => expect(invites(newPeer)).toHaveLength(1));
  newPeer.sockets[0]?.resetAndDestroy();
  await first.until("ended unreachable");
  expect(invites(newPeer)).toHaveLength(1);

  const ringingPeer = await peer();
  const second = (await provenAgent(ringingPeer)).call("bob");
  await vi.waitFor(() => expect(invites(ringingPeer)).toHaveLength(1));
  const invite = ringingPeer.received().slice(ringingPeer.received().lastIndexOf("INVITE sip"));
  ringingPeer.sockets[0]?.write(ok(invite, "<sip:127.0.0.1>").toString().replace("200 OK", "180 Ringing"));
  await second.until("ringing");
  ringingPeer.sockets[0]?.resetAndDestroy();
  await second.until("ended unreachable");
  expect(invites(ringingPeer)).toHaveLength(1);

  const silentPeer = await peer();
  const system = new ManualSystem();
  const third = (await provenAgent(silentPeer, system)).call("bob");
  await vi.waitFor(() => expect(invites(silentPeer)).toHaveLength(1));
  silentPeer.sockets[0]?.write(new TextDecoder().decode(writeMessage(options())));
  await vi.waitFor(() => expect(silentPeer.received()).toContain("SIP/2.0 200 OK"));
  await system.advance(31_999);
  expect(third.end).toBeUndefined();
  await system.advance(1);
  expect(third.end).toMatchObject({ type: "unreachable", detail: expect.stringContaining("no response within 32 s") });
  expect(invites(silentPeer)).toHaveLength(1);
});
