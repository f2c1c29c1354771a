import { createServer } from "node:net";
import { describe, expect, test, vi } from "vitest";
import { MediaTarget } from "../../../adapters/sip-stack/media/media-target.ts";
import { addressCheck } from "../../../adapters/sip-stack/transport/addresses.ts";
import type { Dns } from "../../../adapters/sip-stack/transport/dns.ts";
import { createResolve } from "../../../adapters/sip-stack/transport/resolver.ts";
import type { Hop, TransportKind } from "../../../adapters/sip-stack/transport/transport.ts";
import { createTransports } from "../../../adapters/sip-stack/transport/transports.ts";
import { peerAddressCheck, trustedResolve } from "../../../adapters/sip-stack/transport/trusted-resolve.ts";
import { silentLogger } from "../../../src/ports/logger.ts";
import { realSystem } from "../../../src/ports/system.ts";
import { bindUdp, onOnePort } from "../../support/one-port.ts";
import { settingsTo } from "../media/two-ends.ts";

const never = new AbortController().signal;
const PUBLIC = "8.8.8.8";

/** The names of a hostile account's server, whose records change between two lookups. */
function hostileDns(first = PUBLIC): { dns: Dns; rebind: () => void } {
  let records = first;
  const addresses = new Map([
    [
      "inside.example.com",
      ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "fd00::1", "64:ff9b::7f00:1", "192.0.2.1"],
    ],
    ["mixed.example.com", ["127.0.0.1", PUBLIC]],
  ]);
  const dns: Dns = {
    async naptr(domain) {
      if (domain !== "naptr.example.com") return [];
      return [{ order: 1, preference: 1, service: "SIP+D2T", replacement: "_sip._tcp.srv.example.com" }];
    },
    async srv(name) {
      if (!name.endsWith(".srv.example.com")) return [];
      return [{ priority: 1, weight: 1, name: "inside.example.com", port: 22 }];
    },
    addresses: async (host) => (host === "sip.example.com" ? [records] : (addresses.get(host) ?? [])),
  };
  const rebind = (): void => {
    records = "127.0.0.1";
  };
  return { dns, rebind };
}

describe("hops of an account's server", () => {
  const allows = peerAddressCheck(true);
  const resolver = (dns: Dns, onRefused = (_: string) => {}) => {
    const resolve = createResolve({ system: realSystem, dns, ipv6: () => true });
    return trustedResolve({
      ...{ resolveOwn: resolve, resolve, allows, ownUri: "sip:sip.example.com", ranges: undefined },
      onRefused,
    });
  };

  // Contact, Record-Route, redirections and Refer-To are all URIs that are resolved this way.
  test.each([
    ["sip:127.0.0.1:22"],
    ["sip:[::1]:22;transport=tcp"],
    ["sip:inside.example.com"],
    ["sip:srv.example.com"],
    ["sip:naptr.example.com"],
    ["sips:inside.example.com:443"],
    ["sip:sip.example.com;maddr=127.0.0.1"],
    ["sip:sip.example.com:22;maddr=inside.example.com"],
  ])("is the server, not a private address: %s", async (uri) => {
    const refusedUris: string[] = [];
    const resolve = resolver(hostileDns().dns, (uri) => refusedUris.push(uri));
    expect(await resolve("sip:sip.example.com", never)).toHaveLength(1);
    const hops = await resolve(uri, never);
    expect([hops.map(({ address }) => address), refusedUris]).toEqual([[PUBLIC], [uri]]);
  });

  test("is only the public one of several addresses", async () => {
    const hops = await resolver(hostileDns().dns)("sip:mixed.example.com", never);
    expect(hops.map(({ address }) => address)).toEqual([PUBLIC]);
  });

  test("is checked at each lookup: a name rebound to this machine is refused", async () => {
    const { dns, rebind } = hostileDns();
    const resolve = resolver(dns);
    expect(await resolve("sip:sip.example.com", never)).toHaveLength(1);
    rebind();
    for (const uri of ["sip:sip.example.com", "sip:inside.example.com"])
      await expect(resolve(uri, never)).rejects.toThrow("sip.example.com has no public address");
  });
});

test("maddr of a peer's URI never replaces the trunk's own server", async () => {
  const { dns } = hostileDns();
  const resolve = createResolve({ system: realSystem, dns });
  const refusedAddresses: string[] = [];
  const resolveTrusted = trustedResolve({
    ...{
      resolveOwn: resolve,
      resolve,
      allows: peerAddressCheck(false),
      ownUri: "sip:sip.example.com",
      ranges: undefined,
    },
    onRefused: (_, address) => refusedAddresses.push(address),
  });
  await resolveTrusted("sip:sip.example.com", never);
  const hops = await resolveTrusted("sip:sip.example.com;maddr=127.0.0.1", never);
  expect([hops.map(({ address }) => address), refusedAddresses]).toEqual([[PUBLIC], ["127.0.0.1"]]);
});

describe("the sockets of an account", () => {
  test.each<TransportKind>(["udp", "tcp", "tls"])(
    "open no connection to a forbidden address, over %s",
    async (kind) => {
      const received = vi.fn();
      const tcp = createServer(received);
      const udp = await onOnePort(tcp, bindUdp);
      udp.on("message", received);
      const { port } = udp.address();
      const transports = createTransports({ system: realSystem, logger: silentLogger, allows: peerAddressCheck(true) });
      const hop: Hop = { kind, host: "sip.example.com", address: "127.0.0.1", port };
      await expect(transports.connect(hop, never)).rejects.toThrow("sip.example.com has no public address");
      await transports.close();
      udp.close();
      tcp.close();
      expect(received).not.toHaveBeenCalled();
    },
  );
});

describe("the audio of an account", () => {
  const rule = { isPublic: true, onlyPublic: true };

  test("is accepted from public addresses only", () => {
    const check = addressCheck({ ...rule, ranges: ["0.0.0.0/0", "::/0"] });
    expect([PUBLIC, "127.0.0.1", "192.0.2.1", "64:ff9b::7f00:1", "2002:7f00:1::1"].map(check)).toEqual([
      ...[true, false, false, false, false],
    ]);
  });

  test.each(["127.0.0.1", "10.1.2.3", "::1", "64:ff9b::7f00:1", "198.18.0.1"])("is never sent to %s", (address) => {
    const sentTo: string[] = [];
    const refusals: (string | undefined)[] = [];
    const target = new MediaTarget({
      session: { configure: ({ remote, remoteRtcp }) => sentTo.push(remote.address, remoteRtcp.address) },
      ...{ local: "198.51.100.7", from: rule, dns: { addresses: async () => [] } },
      onAddressChecked: (refusal) => refusals.push(refusal),
      onNoAddress: () => {},
    });
    const addresses = { remote: { address, port: 4_000 }, remoteRtcp: { address, port: 4_001 } };
    target.apply(settingsTo(4_000, { ...addresses, rtcpMux: false }), false);
    expect(sentTo).toEqual(["0.0.0.0", "0.0.0.0"]);
    expect(refusals[0]).toContain(`${address} is not a public address`);
  });
});
