import { expect, test } from "vitest";
import { createTransports } from "../../../adapters/sip-stack/transport/transports.ts";
import { silentLogger } from "../../../src/ports/logger.ts";
import { realSystem } from "../../../src/ports/system.ts";
import { certificateAuthority } from "../../support/certificates.ts";
import { datagramPeer, never, options, streamPeer } from "./sockets.ts";

/** Sockets and listeners that keep the process alive; only Node reports them. */
function handles(): string[] {
  return process.getActiveResourcesInfo().filter((name) => /TCP|UDP|TLS/.test(name));
}

const isSupported =
  typeof process.getActiveResourcesInfo === "function" && !("Bun" in globalThis || "Deno" in globalThis);

test.skipIf(!isSupported)("a closed trunk leaves no socket and no listener (Node only)", async () => {
  const authority = certificateAuthority();
  const udpPeer = await datagramPeer();
  const tcpPeer = await streamPeer();
  const tlsPeer = await streamPeer({ tls: authority.issue() });
  const countBefore = handles().length;
  const target = { address: "127.0.0.1", host: "localhost" };
  for (let n = 0; n < 3; n++) {
    const transports = createTransports({
      system: realSystem,
      logger: silentLogger,
      tls: { ca: authority.ca },
      listen: { transport: "tcp", port: 0, address: "127.0.0.1" },
    });
    await transports.ready();
    const hops = [
      { ...target, kind: "udp", port: udpPeer.port },
      { ...target, kind: "tcp", port: tcpPeer.port },
      { ...target, kind: "tls", port: tlsPeer.port },
    ] as const;
    for (const hop of hops) {
      const flow = await transports.connect(hop, never);
      flow.hold();
      flow.send(options());
    }
    expect(handles().length).toBeGreaterThan(countBefore);
    await transports.close();
  }
  const deadline = performance.now() + 5_000;
  while (handles().length > countBefore && performance.now() < deadline)
    await new Promise((resolve) => setImmediate(resolve));
  expect(handles()).toHaveLength(countBefore);
  await Promise.all([udpPeer.close(), tcpPeer.close(), tlsPeer.close()]);
});
