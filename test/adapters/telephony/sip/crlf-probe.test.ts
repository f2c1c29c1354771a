import { expect, test } from "vitest";
import { resolveTrunk } from "../../../../adapters/telephony/sip/config/resolve-trunk.ts";
import { openStack } from "../../../../adapters/telephony/sip/open-stack.ts";
import { silentLogger } from "../../../../src/ports/logger.ts";
import { realSystem } from "../../../../src/ports/system.ts";
import { datagramPeer } from "../../../sip-stack/transport/sockets.ts";
import { field, readSip, writeSip } from "../../../support/sip/sip-text.ts";

test.each([
  [false, 1],
  [true, 2],
])("a trunk with crlfProbe %s sends from %i ports", async (crlfProbe, ports) => {
  const peer = await datagramPeer();
  const server = `sip:127.0.0.1:${peer.port}`;
  const trunk = resolveTrunk({ name: "acme", server, crlfProbe });
  const stack = await openStack({ trunk, system: realSystem, logger: silentLogger, onChange() {}, trace() {} });
  try {
    const health = stack.presence.checkHealth();
    await expect.poll(() => peer.received.find(({ text }) => text.startsWith("OPTIONS"))).toBeDefined();
    await expect.poll(() => new Set(peer.received.map(({ port }) => port)).size).toBe(ports);
    const options = peer.received.find(({ text }) => text.startsWith("OPTIONS"))!;
    const text = readSip(Buffer.from(options.text));
    const fields = ["Via", "From", "To", "Call-ID", "CSeq"].map((name) => [name, field(text, name)] as const);
    peer.send(writeSip({ start: "SIP/2.0 200 OK", fields, body: "" }), options.port);
    expect(await health).toEqual({ state: "online" });
  } finally {
    await stack.close();
    await peer.close();
  }
});
