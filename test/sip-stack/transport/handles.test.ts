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

const told = typeof process.getActiveResourcesInfo === "function" && !("Bun" in globalThis || "Deno" in globalThis);

test.skipIf(!told)("a closed trunk leaves no socket and no listener (Node only)", async () => {
  const authority = certificateAuthority();
  const far = await datagramPeer();
  const tcp = await streamPeer();
  const tls = await streamPeer({ tls: authority.issue() });
  const before = handles().length;
  const place = { address: "127.0.0.1", host: "localhost" };
  for (let n = 0; n < 3; n++) {
    const transports = createTransports({
      system: realSystem,
      logger: silentLogger,
      tls: { ca: authority.ca },
      listen: { transport: "tcp", port: 0, address: "127.0.0.1" },
    });
    await transports.ready();
    const hops = [
      { ...place, kind: "udp", port: far.port },
      { ...place, kind: "tcp", port: tcp.port },
      { ...place, kind: "tls", port: tls.port },
    ] as const;
    for (const hop of hops) {
      const flow = await transports.connect(hop, never);
      flow.hold();
      flow.send(options());
    }
    expect(handles().length).toBeGreaterThan(before);
    await transports.close();
  }
  const until = performance.now() + 5_000;
  while (handles().length > before && performance.now() < until) await new Promise((turn) => setImmediate(turn));
  expect(handles()).toHaveLength(before);
  await Promise.all([far.close(), tcp.close(), tls.close()]);
});
