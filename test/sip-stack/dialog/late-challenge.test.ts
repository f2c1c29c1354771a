import { afterEach, describe, expect, test, vi } from "vitest";
import { ManualSystem } from "../../../src/testing/manual-system.ts";
import { field, methodOf, readSip, type SipText, writeSip } from "../../support/sip/sip-text.ts";
import { datagramPeer, streamPeer, TestResources } from "../transport/sockets.ts";
import { LiveAgent } from "./support/live-agent.ts";

const resources = new TestResources();
afterEach(() => resources.close());

/** A scripted peer over one transport. */
interface Peer {
  readonly uri: string;
  /** All messages from the trunk's socket. */
  received(): string;
  send(bytes: Buffer): void;
}

const PEERS = {
  async udp(): Promise<Peer> {
    const peer = resources.add(await datagramPeer());
    // The trunk's socket is that of the latest message; route probes use another one.
    const port = (): number => peer.received.findLast(({ text }) => text.trim() !== "")?.port ?? 0;
    return {
      uri: `sip:127.0.0.1:${peer.port};transport=udp`,
      received: () =>
        peer.received
          .filter((datagram) => datagram.port === port())
          .map(({ text }) => text)
          .join(""),
      send: (bytes) => peer.send(bytes, port()),
    };
  },
  async tcp(): Promise<Peer> {
    const peer = resources.add(await streamPeer());
    return {
      uri: `sip:127.0.0.1:${peer.port};transport=tcp`,
      received: peer.received,
      send: (bytes) => void peer.sockets[0]?.write(bytes),
    };
  },
} as const;

const SDP =
  "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 9 RTP/AVP 0\r\na=rtpmap:0 PCMU/8000\r\n";

/** Latest request with this CSeq, once received. */
async function receivedRequest(peer: Peer, cseq: string): Promise<SipText> {
  const texts = (): string[] => peer.received().split(/(?=^[A-Z]+ sip:\S+ SIP\/2\.0\r$)/m);
  const request = (): string | undefined => texts().findLast((text) => text.includes(`\r\nCSeq: ${cseq}\r\n`));
  await vi.waitFor(() => expect(request(), cseq).toBeDefined(), 5_000);
  return readSip(Buffer.from(request()!, "latin1"));
}

function respond(peer: Peer, request: SipText, status: number, extraFields: SipText["fields"] = []): void {
  const copiedFields = ["Via", "From", "Call-ID", "CSeq"].map((name) => [name, field(request, name)] as const);
  const to = field(request, "To").includes("tag=") ? field(request, "To") : `${field(request, "To")};tag=them`;
  const body = methodOf(request) === "INVITE" ? SDP : "";
  const fields = [
    ...copiedFields,
    ["To", to],
    ["Contact", `<${peer.uri}>`],
    ["Content-Type", "application/sdp"],
    ...extraFields,
  ];
  peer.send(writeSip({ start: `SIP/2.0 ${status} So`, fields: fields as SipText["fields"], body }));
}

/** A call that the peer has answered; its BYE has CSeq 2. */
async function answeredCall(kind: keyof typeof PEERS) {
  const peer = await PEERS[kind]();
  const system = new ManualSystem();
  const call = resources.add(new LiveAgent(peer.uri, { system })).call("bob");
  respond(peer, await receivedRequest(peer, "1 INVITE"), 200);
  await call.until("answered");
  return { peer, system, call };
}

describe.each(["udp", "tcp"] as const)("a BYE over %s without a response for 4 s", (kind) => {
  test("is sent again with credentials after a challenge", async () => {
    const { peer, system, call } = await answeredCall(kind);
    const hangUp = call.usage.hangUp();
    const bye = await receivedRequest(peer, "2 BYE");
    await system.advance(20_000);
    await hangUp;
    expect(call.log.at(-1)).toBe("ended released");
    respond(peer, bye, 401, [["WWW-Authenticate", 'Digest realm="far.end", nonce="n1"']]);
    const repeated = await receivedRequest(peer, "3 BYE");
    expect(field(repeated, "Authorization")).toContain('nonce="n1"');
    respond(peer, repeated, 200);
  });

  test("holds its flow until the final response", async () => {
    const { peer, system, call } = await answeredCall(kind);
    await system.advance(15_000);
    const hangUp = call.usage.hangUp();
    const bye = await receivedRequest(peer, "2 BYE");
    await system.advance(4_000);
    await hangUp;
    const keepAlives = (): number => peer.received().split(/(?<=\r\n\r\n)\r\n\r\n/).length - 1;
    expect(keepAlives()).toBe(0);
    respond(peer, bye, 100);
    await system.advance(11_000);
    await vi.waitFor(() => expect(keepAlives()).toBe(1));
  });
});
