import { afterEach, expect, test, vi } from "vitest";
import { createTransactions } from "../../../adapters/sip-stack/transaction/transaction-layer.ts";
import { createTransports } from "../../../adapters/sip-stack/transport/transports.ts";
import { silentLogger } from "../../../src/ports/logger.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";
import { field, readSip, writeSip } from "../../support/sip/sip-text.ts";
import { request, type Sent, send } from "../transaction/trunk.ts";
import { Opened, type StreamPeer, streamPeer } from "./sockets.ts";

const opened = new Opened();
afterEach(() => opened.close());

/** Last request of a method that a peer has read. */
function last(peer: StreamPeer, method: string): string {
  return peer.received().slice(peer.received().lastIndexOf(`${method} sip`));
}

function answer(peer: StreamPeer, socket: number, method: string): void {
  const asked = readSip(Buffer.from(last(peer, method), "latin1"));
  const fields = ["Via", "From", "To", "Call-ID", "CSeq"].map((name) => [name, field(asked, name)] as const);
  peer.sockets[socket]?.write(writeSip({ start: "SIP/2.0 200 OK", fields, body: "" }));
}

test.each([
  ["OPTIONS", true],
  ["connections", false],
])("a dead server costs one call 4 s; it is probed by %s", async (_, asks) => {
  const system = new ManualSystem();
  const peers = [opened.add(await streamPeer()), opened.add(await streamPeer())] as const;
  const [one, two] = peers;
  const hops = peers.map(({ port }) => ({ kind: "tcp", address: "127.0.0.1", port, host: "127.0.0.1" }) as const);
  const transports = createTransports({ system, logger: silentLogger });
  const transactions = opened.add(createTransactions(transports, async () => hops, { system, asksFailedHops: asks }));
  const call = (): Sent => send(transactions, request("INVITE", "sip:100@127.0.0.1"), "sip:127.0.0.1");
  const taken = async (sent: Sent, peer: StreamPeer, socket = 0): Promise<void> => {
    const { headers } = sent.transaction.request;
    await vi.waitFor(() => expect(last(peer, "INVITE")).toContain(headers.get("Call-ID")));
    await vi.waitFor(() => expect(last(peer, "INVITE")).toMatch(/\r\n\r\n$/));
    answer(peer, socket, "INVITE");
    expect(await sent.end).toMatchObject({ status: 200 });
  };
  await taken(call(), one);
  // The first connection is dead from this point.
  const delayed = call();
  await vi.waitFor(() => expect(one.received().match(/INVITE sip/g)).toHaveLength(2));
  await system.advance(4_000);
  await taken(delayed, two);
  await system.advance(30_000);
  await taken(call(), two);
  await vi.waitFor(() => expect(one.sockets).toHaveLength(2));
  if (asks) {
    await vi.waitFor(() => expect(last(one, "OPTIONS")).toMatch(/^OPTIONS .*\r\n\r\n$/s));
    await system.advance(4_000);
    await taken(call(), two); // no response: it is queried again after a minute
    await system.advance(60_000);
    await taken(call(), two);
    await vi.waitFor(() => expect(one.received().match(/OPTIONS sip/g)).toHaveLength(2));
    await vi.waitFor(() => expect(last(one, "OPTIONS")).toMatch(/\r\n\r\n$/));
    answer(one, one.sockets.length - 1, "OPTIONS");
  }
  expect(one.received().match(/INVITE sip/g)).toHaveLength(2);
  // As soon as the probe gets its response, calls go there again.
  await vi.waitFor(async () => {
    const sent = call();
    await vi.waitFor(() => expect(sent.flows).toHaveLength(1));
    const back = sent.flows[0]?.remote.port === one.port;
    await taken(sent, back ? one : two, back ? one.sockets.length - 1 : 0);
    expect(back).toBe(true);
  });
});
