import type { TLSSocket } from "node:tls";
import { afterEach, expect, test, vi } from "vitest";
import { resolveTrunk } from "../../../adapters/telephony/sip/config/resolve-trunk.ts";
import type { Trunk } from "../../../adapters/telephony/sip/config/trunk.ts";
import { openStack, type SipStack } from "../../../adapters/telephony/sip/stack.ts";
import { silentLogger } from "../../../src/ports/logger.ts";
import { realSystem } from "../../../src/ports/system.ts";
import { certificateAuthority } from "../../support/certificates.ts";
import { field, readSip, writeSip } from "../../support/sip/sip-text.ts";
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

test("an outbound proxy with the certificate of the server behind it is refused by its name", async () => {
  const far = await proxy("sip.acme.example");
  const outboundProxy = `sip:localhost:${far.port};transport=tls`;
  const { presence } = await stack({ outboundProxy, tls: { ca: authority.ca } });
  expect(await presence.ask()).toMatchObject({ state: "offline", reason: expect.stringContaining("than localhost") });
  expect(far.received()).toBe("");
});
