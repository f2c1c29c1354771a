import type { TLSSocket } from "node:tls";
import { afterEach, expect, test, vi } from "vitest";
import { resolveTrunk } from "../../../adapters/telephony/sip/config/resolve-trunk.ts";
import type { Trunk } from "../../../adapters/telephony/sip/config/trunk.ts";
import type { MediaSession } from "../../../adapters/telephony/sip/media/engine.ts";
import { openStack, type SipStack } from "../../../adapters/telephony/sip/stack.ts";
import { silentLogger } from "../../../src/ports/logger.ts";
import { realSystem } from "../../../src/ports/system.ts";
import { certificateAuthority } from "../../support/certificates.ts";
import { type Field, field, readSip, writeSip } from "../../support/sip/sip-text.ts";
import { Opened, type StreamPeer, streamPeer } from "./transport/sockets.ts";

const authority = certificateAuthority();
const opened = new Opened();
afterEach(() => opened.close());

async function stack(trunk: Omit<Trunk, "name" | "server">): Promise<SipStack> {
  return opened.add(
    await openStack({
      trunk: resolveTrunk({ name: "acme", server: "sip:sip.acme.example", ...trunk }),
      system: realSystem,
      logger: silentLogger,
      changed() {},
      trace() {},
    }),
  );
}

/** A proxy whose certificate is for these names. */
async function proxy(...names: string[]): Promise<StreamPeer> {
  return opened.add(await streamPeer({ tls: authority.issue({ names }) }));
}

test.each([
  ["its own name", ["localhost"], {}],
  ["tls.servername", ["edge.example"], { servername: "edge.example" }],
])("an outbound proxy over TLS is asked for, and shows a certificate for, %s", async (_, names, tls) => {
  const far = await proxy(...names);
  const outboundProxy = `sip:localhost:${far.port};transport=tls`;
  const { presence } = await stack({ outboundProxy, tls: { ca: authority.ca, ...tls } });
  const health = presence.ask();
  await vi.waitFor(() => expect(far.received()).toContain("OPTIONS sip:sip.acme.example SIP/2.0"));
  const asked = readSip(Buffer.from(far.received(), "latin1"));
  const copied = ["Via", "From", "To", "Call-ID", "CSeq"].map((name) => [name, field(asked, name)] as const);
  far.sockets[0]?.write(writeSip({ start: "SIP/2.0 200 OK", fields: copied, body: "" }));
  expect(await health).toEqual({ state: "online" });
  expect((far.sockets[0] as TLSSocket & { servername?: string }).servername).toBe(names[0]);
});

test("a route by address is asked for, and shows a certificate for, the outbound proxy's name", async () => {
  const [far, node] = [await proxy("localhost"), await proxy("localhost")];
  const outboundProxy = `sip:localhost:${far.port};transport=tls`;
  const { invite } = await stack({ outboundProxy, tls: { ca: authority.ca }, srtp: "off" });
  const session = { port: 40_000, configure() {} } as Partial<MediaSession> as MediaSession;
  const nothing = (): void => {};
  const call = invite({
    ...{ user: "100", callId: "call", session, srtp: "off", settled: nothing, lost: nothing },
    address: { local: "127.0.0.1", visible: "127.0.0.1" },
    maySend: () => true,
    mayFollow: () => false,
    listener: {
      ...{ placed: nothing, progressed: nothing, ringing: nothing, earlyMedia: nothing, answered: nothing },
      ...{ digit: nothing, held: nothing, ended: nothing },
    },
  });
  await vi.waitFor(() => expect(far.received()).toMatch(/INVITE sip:.*m=audio/s));
  const ok = (text: string, more: readonly Field[], body = ""): Buffer => {
    const asked = readSip(Buffer.from(text, "latin1"));
    const copied = ["Via", "From", "Call-ID", "CSeq"].map((name): Field => [name, field(asked, name)]);
    return writeSip({ start: "SIP/2.0 200 OK", fields: [...copied, ...more], body });
  };
  far.sockets[0]?.write(
    ok(
      far.received(),
      [
        ["To", "<sip:100@sip.acme.example>;tag=them"],
        ["Record-Route", `<sip:127.0.0.1:${node.port};transport=tls;lr>`],
        ["Contact", "<sip:callee@127.0.0.1>"],
        ["Content-Type", "application/sdp"],
      ],
      "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 9 RTP/AVP 0\r\n",
    ),
  );
  await vi.waitFor(() => expect(node.received()).toContain("ACK sip:callee@127.0.0.1"));
  const over = call.hangUp();
  await vi.waitFor(() => expect(node.received()).toMatch(/BYE sip:.*\r\n\r\n$/s));
  const bye = node.received();
  node.sockets[0]?.write(ok(bye.slice(bye.indexOf("BYE sip")), [["To", "<sip:100@sip.acme.example>;tag=them"]]));
  await over;
  expect((node.sockets[0] as TLSSocket & { servername?: string }).servername).toBe("localhost");
});

test("an outbound proxy with the certificate of the server behind it is refused by its name", async () => {
  const far = await proxy("sip.acme.example");
  const outboundProxy = `sip:localhost:${far.port};transport=tls`;
  const { presence } = await stack({ outboundProxy, tls: { ca: authority.ca } });
  expect(await presence.ask()).toMatchObject({ state: "offline", reason: expect.stringContaining("than localhost") });
  expect(far.received()).toBe("");
});
