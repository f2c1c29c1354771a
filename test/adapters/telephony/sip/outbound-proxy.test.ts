import type { TLSSocket } from "node:tls";
import { afterEach, expect, test, vi } from "vitest";
import type { Trunk } from "../../../../adapters/telephony/sip/config/trunk-config.ts";
import type { SipStack } from "../../../../adapters/telephony/sip/open-stack.ts";
import { type StreamPeer, streamPeer, TestResources } from "../../../sip-stack/transport/sockets.ts";
import { certificateAuthority } from "../../../support/certificates.ts";
import type { Field } from "../../../support/sip/sip-text.ts";
import { callOver, responseTo, stackOf } from "./stack-call.ts";

const authority = certificateAuthority();
const resources = new TestResources();
afterEach(() => resources.close());

async function startStack(trunk: Omit<Trunk, "name" | "server">): Promise<SipStack> {
  return resources.add(await stackOf({ server: "sip:sip.acme.example", ...trunk }));
}

/** A proxy with a certificate for these names. */
async function startProxy(...names: string[]): Promise<StreamPeer> {
  return resources.add(await streamPeer({ tls: authority.issue({ names }) }));
}

test.each([
  ["its own name", ["localhost"], {}],
  ["tls.servername", ["edge.example"], { servername: "edge.example" }],
])("an outbound TLS proxy needs a certificate for %s", async (_, names, tls) => {
  const peer = await startProxy(...names);
  const outboundProxy = `sip:localhost:${peer.port};transport=tls`;
  const { presence } = await startStack({ outboundProxy, tls: { ca: authority.ca, ...tls } });
  const health = presence.checkHealth();
  await vi.waitFor(() => expect(peer.received()).toContain("OPTIONS sip:sip.acme.example SIP/2.0"));
  peer.sockets[0]?.write(responseTo(peer.received()));
  expect(await health).toEqual({ state: "online" });
  expect((peer.sockets[0] as TLSSocket & { servername?: string }).servername).toBe(names[0]);
});

test("a route by address needs a certificate for the proxy's name", async () => {
  const [proxyPeer, node] = [await startProxy("localhost"), await startProxy("localhost")];
  const outboundProxy = `sip:localhost:${proxyPeer.port};transport=tls`;
  const call = callOver(await startStack({ outboundProxy, tls: { ca: authority.ca } }), {
    local: "127.0.0.1",
    advertised: "127.0.0.1",
  });
  await vi.waitFor(() => expect(proxyPeer.received()).toMatch(/INVITE sip:.*m=audio/s));
  const extraFields: Field[] = [
    ["Record-Route", `<sip:127.0.0.1:${node.port};transport=tls;lr>`],
    ["Contact", "<sip:callee@127.0.0.1>"],
    ["Content-Type", "application/sdp"],
  ];
  const body = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 9 RTP/AVP 0\r\n";
  proxyPeer.sockets[0]?.write(responseTo(proxyPeer.received(), { extraFields, body }));
  await vi.waitFor(() => expect(node.received()).toContain("ACK sip:callee@127.0.0.1"));
  const hangUp = call.hangUp();
  await vi.waitFor(() => expect(node.received()).toMatch(/BYE sip:.*\r\n\r\n$/s));
  const bye = node.received();
  node.sockets[0]?.write(responseTo(bye.slice(bye.indexOf("BYE sip"))));
  await hangUp;
  expect((node.sockets[0] as TLSSocket & { servername?: string }).servername).toBe("localhost");
});

test("an outbound proxy with the server's certificate is refused", async () => {
  const peer = await startProxy("sip.acme.example");
  const outboundProxy = `sip:localhost:${peer.port};transport=tls`;
  const { presence } = await startStack({ outboundProxy, tls: { ca: authority.ca } });
  expect(await presence.checkHealth()).toMatchObject({
    state: "offline",
    reason: expect.stringContaining("does not cover localhost"),
  });
  expect(peer.received()).toBe("");
});
