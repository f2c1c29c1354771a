import { afterEach, expect, test, vi } from "vitest";
import { datagramPeer, never, streamPeer, TestResources } from "../../../sip-stack/transport/sockets.ts";
import { field, readSip, type SipText } from "../../../support/sip/sip-text.ts";
import { callOver, responseTo, stackOf } from "./stack-call.ts";

const resources = new TestResources();
afterEach(() => resources.close());

/** The parameters that a server adds to Via behind a NAT. */
const VIA_PARAMETERS = ";received=203.0.113.7;rport=40001";

/** The hosts of Contact and of the audio. */
function hostsOf(invite: SipText): string[] {
  return [/@([^:>]+)/.exec(field(invite, "Contact"))?.[1] ?? "", /^c=IN IP4 (\S+)/m.exec(invite.body)?.[1] ?? ""];
}

test("our address from an OPTIONS response is in the first INVITE", async () => {
  const peer = resources.add(await datagramPeer());
  const stack = resources.add(await stackOf({ server: `sip:127.0.0.1:${peer.port}` }));
  const health = stack.presence.checkHealth();
  const requestOf = (method: string) => peer.received.find(({ text }) => text.startsWith(method));
  await vi.waitFor(() => expect(requestOf("OPTIONS")).toBeDefined());
  peer.send(responseTo(requestOf("OPTIONS")!.text, { via: VIA_PARAMETERS }), requestOf("OPTIONS")!.port);
  expect(await health).toEqual({ state: "online" });
  const call = callOver(stack, await stack.address(never));
  await vi.waitFor(() => expect(requestOf("INVITE")).toBeDefined());
  const { text, port } = requestOf("INVITE")!;
  expect(hostsOf(readSip(Buffer.from(text)))).toEqual(["203.0.113.7", "203.0.113.7"]);
  peer.send(responseTo(text, { start: "SIP/2.0 486 Busy Here" }), port);
  await call.hangUp();
});

test("our TCP address also applies to later connections", async () => {
  const peer = resources.add(await streamPeer());
  const stack = resources.add(await stackOf({ server: `sip:127.0.0.1:${peer.port};transport=tcp` }));
  const health = stack.presence.checkHealth();
  await vi.waitFor(() => expect(peer.received()).toMatch(/^OPTIONS .*\r\n\r\n$/s));
  peer.sockets[0]?.write(responseTo(peer.received(), { via: VIA_PARAMETERS }));
  expect(await health).toEqual({ state: "online" });
  await new Promise<void>((resolve) => {
    peer.sockets[0]?.once("close", () => resolve());
    peer.sockets[0]?.end();
  });
  const call = callOver(stack, await stack.address(never));
  await vi.waitFor(() => expect(peer.received()).toMatch(/INVITE sip.*a=rtpmap/s));
  const invite = peer.received().slice(peer.received().indexOf("INVITE sip"));
  expect(hostsOf(readSip(Buffer.from(invite)))).toEqual(["203.0.113.7", "203.0.113.7"]);
  peer.sockets[1]?.write(responseTo(invite, { start: "SIP/2.0 486 Busy Here" }));
  await call.hangUp();
});
