import { connect, type Socket } from "node:net";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseMessage } from "../../../adapters/sip-stack/message/parse-message.ts";
import { responseTo, type SipRequest } from "../../../adapters/sip-stack/message/sip-message.ts";
import { writeMessage } from "../../../adapters/sip-stack/message/write-message.ts";
import { fuzz } from "../../support/fuzz.ts";
import { type DatagramPeer, datagramPeer } from "../transport/sockets.ts";
import { openTrunk, type RecordedRequest, request, send, type Trunk } from "./trunk.ts";

let trunk: Trunk;
let peer: DatagramPeer;
/** A ringing call. */
let ringingCall: RecordedRequest;
let tcpPort: number;
let invite: SipRequest;

beforeAll(async () => {
  peer = await datagramPeer();
  trunk = openTrunk({ listen: { transport: "tcp", port: 0, address: "127.0.0.1" } });
  await trunk.transports.ready();
  tcpPort = trunk.transports.listenerAddress?.port ?? 0;
  const uri = `sip:them@127.0.0.1:${peer.port}`;
  ringingCall = send(trunk.transactions, request("INVITE", uri), uri);
  invite = await new Promise((resolve) => {
    const poll = (): void => {
      const text = peer.received.find(({ text }) => text.startsWith("INVITE"))?.text;
      if (text === undefined) setTimeout(poll, 5);
      else resolve(parseMessage(new TextEncoder().encode(text)) as SipRequest);
    };
    poll();
  });
  reply(180);
  await waitForEvent("180");
});
afterAll(async () => {
  await trunk.transactions.close();
  await peer.close();
});

function reply(status: number): void {
  const port = ringingCall.flows[0]?.local.port ?? 0;
  peer.send(writeMessage(responseTo(invite, status, "")), port);
}

async function waitForEvent(last: string): Promise<void> {
  const deadline = performance.now() + 5_000;
  while (ringingCall.events.at(-1) !== last && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 2));
  expect(ringingCall.events.at(-1)).toBe(last);
}

/** Messages from a peer about this call or another one, to be mutated. */
function plausibleMessages(): Uint8Array[] {
  const requests = ["BYE", "CANCEL", "ACK", "INVITE", "OPTIONS"].map((method) => {
    const message = request(method, "sip:us@127.0.0.1");
    message.headers.addFirst("Via", "SIP/2.0/UDP 127.0.0.1:9;branch=z9hG4bKother;rport");
    return writeMessage(message);
  });
  return [...requests, writeMessage(responseTo(request("INVITE", "sip:x@y"), 200, "OK"))];
}

const noise = fc.uint8Array({ maxLength: 600 });
const corruptedMessage = fc
  .tuple(fc.constantFrom(...plausibleMessages()), fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 6 }), fc.nat())
  .map(([message, changes, cutSeed]) => {
    const bytes = message.slice(0, cutSeed % 4 === 0 ? cutSeed % message.length : message.length);
    for (const [at, byte] of changes) if (bytes.length > 0) bytes[at % bytes.length] = byte;
    return bytes;
  });

describe("a call that rings is not disturbed", () => {
  fuzz(
    "by random and corrupted datagrams",
    fc.asyncProperty(fc.array(fc.oneof(noise, corruptedMessage), { minLength: 1, maxLength: 4 }), async (datagrams) => {
      for (const datagram of datagrams) peer.send(datagram, ringingCall.flows[0]?.local.port ?? 0);
      await new Promise((resolve) => setImmediate(resolve));
      expect(ringingCall.events).toEqual(["sent", "180"]);
    }),
  );

  let socket: Socket | undefined;
  fuzz(
    "by random and corrupted streams",
    fc.asyncProperty(fc.array(fc.oneof(noise, corruptedMessage), { minLength: 1, maxLength: 4 }), async (pieces) => {
      if (socket === undefined || socket.destroyed || !socket.writable) {
        socket = connect(tcpPort, "127.0.0.1");
        socket.on("error", () => {});
        socket.resume();
      }
      for (const piece of pieces) socket.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
      expect(ringingCall.events).toEqual(["sent", "180"]);
    }),
  );

  test("and is finally answered", async () => {
    expect(trunk.transports.malformedCount).toBeGreaterThan(0);
    reply(200);
    await waitForEvent("200");
    socket?.destroy();
  });
});
