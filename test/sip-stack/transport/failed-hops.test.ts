import { afterEach, expect, test, vi } from "vitest";
import { createTransactions } from "../../../adapters/sip-stack/transaction/transaction-layer.ts";
import { createTransports } from "../../../adapters/sip-stack/transport/transports.ts";
import { silentLogger } from "../../../src/ports/logger.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";
import { field, readSip, writeSip } from "../../support/sip/sip-text.ts";
import { type RecordedRequest, request, send } from "../transaction/trunk.ts";
import { type StreamPeer, streamPeer, TestResources } from "./sockets.ts";

const resources = new TestResources();
afterEach(() => resources.close());

/** Last request of a method that a peer has read. */
function last(peer: StreamPeer, method: string): string {
  return peer.received().slice(peer.received().lastIndexOf(`${method} sip`));
}

function respond(peer: StreamPeer, socket: number, method: string): void {
  const message = readSip(Buffer.from(last(peer, method), "latin1"));
  const fields = ["Via", "From", "To", "Call-ID", "CSeq"].map((name) => [name, field(message, name)] as const);
  peer.sockets[socket]?.write(writeSip({ start: "SIP/2.0 200 OK", fields, body: "" }));
}

test.each([
  ["OPTIONS", true],
  ["connections", false],
])("a dead server costs one call 4 s; it is probed by %s", async (_, usesOptions) => {
  const system = new ManualSystem();
  const peers = [resources.add(await streamPeer()), resources.add(await streamPeer())] as const;
  const [deadServer, liveServer] = peers;
  const hops = peers.map(({ port }) => ({ kind: "tcp", address: "127.0.0.1", port, host: "127.0.0.1" }) as const);
  const transports = createTransports({ system, logger: silentLogger });
  const transactions = resources.add(
    createTransactions(transports, async () => hops, { system, probesFailedHops: usesOptions }),
  );
  const placeCall = (): RecordedRequest => send(transactions, request("INVITE", "sip:100@127.0.0.1"), "sip:127.0.0.1");
  const expectAccepted = async (sent: RecordedRequest, peer: StreamPeer, socket = 0): Promise<void> => {
    const { headers } = sent.transaction.request;
    await vi.waitFor(() => expect(last(peer, "INVITE")).toContain(headers.get("Call-ID")));
    await vi.waitFor(() => expect(last(peer, "INVITE")).toMatch(/\r\n\r\n$/));
    respond(peer, socket, "INVITE");
    expect(await sent.end).toMatchObject({ status: 200 });
  };
  await expectAccepted(placeCall(), deadServer);
  // The first connection is dead from this point.
  const delayedCall = placeCall();
  await vi.waitFor(() => expect(deadServer.received().match(/INVITE sip/g)).toHaveLength(2));
  await system.advance(4_000);
  await expectAccepted(delayedCall, liveServer);
  await system.advance(30_000);
  await expectAccepted(placeCall(), liveServer);
  await vi.waitFor(() => expect(deadServer.sockets).toHaveLength(2));
  if (usesOptions) {
    await vi.waitFor(() => expect(last(deadServer, "OPTIONS")).toMatch(/^OPTIONS .*\r\n\r\n$/s));
    await system.advance(4_000);
    await expectAccepted(placeCall(), liveServer); // no response: it is queried again after a minute
    await system.advance(60_000);
    await expectAccepted(placeCall(), liveServer);
    await vi.waitFor(() => expect(deadServer.received().match(/OPTIONS sip/g)).toHaveLength(2));
    await vi.waitFor(() => expect(last(deadServer, "OPTIONS")).toMatch(/\r\n\r\n$/));
    respond(deadServer, deadServer.sockets.length - 1, "OPTIONS");
  }
  expect(deadServer.received().match(/INVITE sip/g)).toHaveLength(2);
  // As soon as the probe gets its response, calls go there again.
  await vi.waitFor(async () => {
    const sent = placeCall();
    await vi.waitFor(() => expect(sent.flows).toHaveLength(1));
    const isBack = sent.flows[0]?.remote.port === deadServer.port;
    await expectAccepted(sent, isBack ? deadServer : liveServer, isBack ? deadServer.sockets.length - 1 : 0);
    expect(isBack).toBe(true);
  });
});
