import { describe, expect, test } from "vitest";
import { type CachedDnsOptions, cachedDns, type Dns } from "../../../adapters/sip-stack/transport/dns.ts";
import { createResolve } from "../../../adapters/sip-stack/transport/resolver.ts";
import type { Hop } from "../../../adapters/sip-stack/transport/transport.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";
import { never } from "./sockets.ts";

type Naptr = Awaited<ReturnType<Dns["naptr"]>>;
type Srv = Awaited<ReturnType<Dns["srv"]>>;

/** DNS records; a string stands for a failed query. */
interface Zone {
  readonly naptr?: Readonly<Record<string, Naptr | string>>;
  readonly srv?: Readonly<Record<string, Srv | string>>;
  readonly addresses?: Readonly<Record<string, readonly string[] | string>>;
}

function zone({ naptr = {}, srv = {}, addresses = {} }: Zone, ipv6 = true) {
  const queries: string[] = [];
  const system = new ManualSystem();
  async function query<Item>(table: Readonly<Record<string, readonly Item[] | string>>, kind: string, name: string) {
    queries.push(`${kind} ${name}`);
    const records = table[name] ?? [];
    if (typeof records === "string") throw new Error(records);
    return records;
  }
  const dns: Dns = {
    naptr: (domain) => query(naptr, "NAPTR", domain),
    srv: (name) => query(srv, "SRV", name),
    addresses: (host) => query(addresses, "A", host),
  };
  const resolve = createResolve({ system, dns: cachedDns(dns, system), ipv6: () => ipv6 });
  const resolveTexts = async (uri: string): Promise<string[]> =>
    (await resolve(uri, never)).map(({ kind, address, port }) => `${kind} ${address} ${port}`);
  return { queries, system, resolve, resolveTexts };
}

const ONE_ADDRESS = { addresses: { "example.com": ["192.0.2.1"] } };

describe("a URI with an address", () => {
  test.each([
    ["sip:192.0.2.1", "udp 192.0.2.1 5060"],
    ["sip:us@192.0.2.1:5070", "udp 192.0.2.1 5070"],
    ["sip:192.0.2.1;transport=tcp", "tcp 192.0.2.1 5060"],
    ["sip:192.0.2.1;transport=TLS", "tls 192.0.2.1 5061"],
    ["sips:192.0.2.1", "tls 192.0.2.1 5061"],
    ["sips:192.0.2.1;transport=tcp", "tls 192.0.2.1 5061"],
    ["sip:[2001:db8::1]:5080", "udp 2001:db8::1 5080"],
    ["sip:example.com:5070;maddr=192.0.2.9", "udp 192.0.2.9 5070"],
  ])("resolves without the DNS: %s to %s", async (uri, hopText) => {
    const { resolveTexts, queries } = zone({}, false);
    expect(await resolveTexts(uri)).toEqual([hopText]);
    expect(queries).toEqual([]);
  });
});

describe("a URI with a name (RFC 3263 section 4)", () => {
  test.each([
    ["sip:example.com:5070", "udp 192.0.2.1 5070"],
    ["sips:example.com:5070", "tls 192.0.2.1 5070"],
    ["sip:example.com:5070;transport=tcp", "tcp 192.0.2.1 5070"],
  ])("with a port resolves to addresses: %s to %s", async (uri, hopText) => {
    const { resolveTexts, queries } = zone(ONE_ADDRESS);
    expect(await resolveTexts(uri)).toEqual([hopText]);
    expect(queries).toEqual(["A example.com"]);
  });

  test.each([
    ["sip:example.com;transport=tcp", "SRV _sip._tcp.example.com", "tcp 192.0.2.1 5060"],
    ["sip:example.com;transport=udp", "SRV _sip._udp.example.com", "udp 192.0.2.1 5060"],
    ["sip:example.com;transport=tls", "SRV _sips._tcp.example.com", "tls 192.0.2.1 5061"],
  ])("with a transport prefers SRV: %s", async (uri, query, hopText) => {
    const { resolveTexts, queries } = zone(ONE_ADDRESS);
    expect(await resolveTexts(uri)).toEqual([hopText]);
    expect(queries).toEqual([query, "A example.com"]);
  });

  test("resolves by NAPTR, then SRV, then addresses", async () => {
    const { resolveTexts, resolve } = zone({
      naptr: {
        "example.com": [
          { order: 50, preference: 20, service: "SIP+D2U", replacement: "_sip._udp.example.com" },
          { order: 50, preference: 10, service: "SIPS+D2T", replacement: "_sips._tcp.example.com" },
          { order: 10, preference: 10, service: "E2U+email", replacement: "mail.example.com" },
          { order: 90, preference: 10, service: "sip+d2t", replacement: "_sip._tcp.example.com" },
        ],
      },
      srv: {
        "_sips._tcp.example.com": [{ priority: 1, weight: 0, name: "a.example.com", port: 5061 }],
        "_sip._udp.example.com": [
          { priority: 2, weight: 0, name: "b.example.com", port: 5062 },
          { priority: 1, weight: 0, name: "a.example.com", port: 5063 },
        ],
        "_sip._tcp.example.com": [{ priority: 1, weight: 0, name: ".", port: 0 }],
      },
      addresses: { "a.example.com": ["192.0.2.1", "2001:db8::1"], "b.example.com": ["192.0.2.2"] },
    });
    expect(await resolveTexts("sip:example.com")).toEqual([
      "tls 192.0.2.1 5061",
      "tls 2001:db8::1 5061",
      "udp 192.0.2.1 5063",
      "udp 2001:db8::1 5063",
      "udp 192.0.2.2 5062",
    ]);
    expect(await resolveTexts("sips:example.com")).toEqual(["tls 192.0.2.1 5061", "tls 2001:db8::1 5061"]);
    const [hop] = await resolve("sip:example.com", never);
    expect(hop).toMatchObject({ host: "example.com", isTransportFixed: false }); // a certificate is for the domain (RFC 5922)
  });

  test("without NAPTR resolves by every transport's SRV", async () => {
    const { resolveTexts, queries } = zone({
      srv: { "_sip._tcp.example.com": [{ priority: 1, weight: 0, name: "a.example.com", port: 5099 }] },
      addresses: { "a.example.com": ["192.0.2.1"] },
    });
    expect(await resolveTexts("sip:example.com")).toEqual(["tcp 192.0.2.1 5099"]);
    expect(queries).toContain("SRV _sip._udp.example.com");
    expect(queries).toContain("SRV _sips._tcp.example.com");
  });

  test("resolves by address without NAPTR and SRV", async () => {
    const { resolveTexts } = zone({
      ...ONE_ADDRESS,
      naptr: { "example.com": "ENOTIMP" },
      srv: {
        "_sip._udp.example.com": "ESERVFAIL",
        "_sip._tcp.example.com": "ESERVFAIL",
        "_sips._tcp.example.com": "x",
      },
    });
    expect(await resolveTexts("sip:example.com")).toEqual(["udp 192.0.2.1 5060"]);
  });

  test("skips a server that cannot be resolved", async () => {
    const { resolveTexts } = zone({
      srv: {
        "_sip._udp.example.com": [
          { priority: 1, weight: 0, name: "broken.example.com", port: 5060 },
          { priority: 2, weight: 0, name: "a.example.com", port: 5060 },
        ],
      },
      addresses: { "broken.example.com": "ESERVFAIL", "a.example.com": ["192.0.2.1"] },
    });
    expect(await resolveTexts("sip:example.com;transport=udp")).toEqual(["udp 192.0.2.1 5060"]);
  });

  test("uses IPv6 only if this machine has it", async () => {
    const bothFamilies = { addresses: { "example.com": ["2001:db8::1", "192.0.2.1", "::1"] } };
    expect(await zone(bothFamilies, false).resolveTexts("sip:example.com")).toEqual([
      "udp 192.0.2.1 5060",
      "udp ::1 5060",
    ]);
    expect(await zone(bothFamilies, true).resolveTexts("sip:example.com")).toHaveLength(3);
    const ipv6Zone = zone({ addresses: { "example.com": ["2001:db8::1"] } }, false);
    await expect(ipv6Zone.resolveTexts("sip:example.com")).rejects.toThrow(
      "has IPv6 addresses only, and this machine has none",
    );
  });

  test("resolves to sixteen hops at most", async () => {
    const addresses = Array.from({ length: 300 }, (_, n) => `192.0.2.${n % 255}`);
    expect(await zone({ addresses: { "example.com": addresses } }).resolveTexts("sip:example.com:5060")).toHaveLength(
      16,
    );
  });
});

describe("a failed resolution is a `dns` fault", () => {
  test.each([
    ["tel:+12025550100", "tel:+12025550100 is not a SIP URI"],
    ["sip:example.com;transport=sctp", "transport=sctp of a sip URI is not supported; use udp, tcp or tls"],
    ["sips:example.com;transport=udp", "transport=udp of a sips URI is not supported"],
    ["sip:nowhere.example", "nowhere.example has no address in the DNS; check its spelling"],
    ["sip:broken.example", "the DNS query for broken.example failed: ESERVFAIL"],
  ])("with the message for %s: %s", async (uri, message) => {
    const { resolveTexts } = zone({ addresses: { "broken.example": "ESERVFAIL" } });
    await expect(resolveTexts(uri)).rejects.toMatchObject({ fault: "dns", message: expect.stringContaining(message) });
  });

  test("which is lasting for an unknown name, but not for a failed query", async () => {
    const { resolveTexts } = zone({ addresses: { "broken.example": "ESERVFAIL" } });
    await expect(resolveTexts("sip:nowhere.example")).rejects.toMatchObject({ isPermanent: true });
    await expect(resolveTexts("sip:broken.example")).rejects.toMatchObject({ isPermanent: false });
  });

  test("after a timeout of the resolver", async () => {
    const system = new ManualSystem();
    const pending = new Promise<never>(() => {});
    const dns: Dns = { naptr: () => pending, srv: () => pending, addresses: () => pending };
    const resolution = createResolve({ system, dns: cachedDns(dns, system) })("sip:example.com:5060", never);
    const rejection = expect(resolution).rejects.toMatchObject({
      fault: "dns",
      message: expect.stringContaining("no answer to the query for address example.com within 4000 ms"),
    });
    await system.advance(4_000);
    await rejection;
    expect(system.waiting).toBe(0);
  });

  test("costs 1.5 s once in 30 s if NAPTR and SRV are dropped", async () => {
    const system = new ManualSystem();
    const queries: string[] = [];
    const dropQuery = (question: string) => {
      queries.push(question);
      return new Promise<never>(() => {});
    };
    const addresses = async (host: string): Promise<string[]> => {
      queries.push(`A ${host}`);
      return ["192.0.2.1"];
    };
    const dns: Dns = {
      naptr: (name) => dropQuery(`NAPTR ${name}`),
      srv: (name) => dropQuery(`SRV ${name}`),
      addresses,
    };
    const resolve = createResolve({ system, dns: cachedDns(dns, system) });
    let hops: readonly Hop[] = [];
    const resolution = resolve("sip:example.com", never).then((resolvedHops) => (hops = resolvedHops));
    await system.settle();
    expect(queries.toSorted()).toEqual([
      "A example.com",
      "NAPTR example.com",
      "SRV _sip._tcp.example.com",
      "SRV _sip._udp.example.com",
      "SRV _sips._tcp.example.com",
    ]);
    await system.advance(1_500);
    expect(hops).toMatchObject([{ kind: "udp", address: "192.0.2.1", port: 5060 }]);
    await resolution;
    // The next resolution needs neither time nor a query.
    expect(await resolve("sip:example.com", never)).toEqual(hops);
    expect(queries).toHaveLength(5);
    expect(system.waiting).toBe(0);
  });

  test("a late result is cached", async () => {
    const system = new ManualSystem();
    let resolveAddresses: (addresses: readonly string[]) => void = () => {};
    const pendingAddresses = new Promise<readonly string[]>((resolve) => (resolveAddresses = resolve));
    const dns: Dns = { naptr: async () => [], srv: async () => [], addresses: () => pendingAddresses };
    const resolve = createResolve({ system, dns: cachedDns(dns, system) });
    const rejection = expect(resolve("sip:example.com:5070", never)).rejects.toMatchObject({ fault: "dns" });
    await system.advance(4_000);
    await rejection;
    resolveAddresses(["192.0.2.1"]);
    await system.settle();
    expect(await resolve("sip:example.com:5070", never)).toMatchObject([{ address: "192.0.2.1", port: 5070 }]);
  });

  test("an aborted resolution is a `closed` fault", async () => {
    const pending = new Promise<never>(() => {});
    const dns: Dns = { naptr: () => pending, srv: () => pending, addresses: () => pending };
    const controller = new AbortController();
    const system = new ManualSystem();
    const resolution = createResolve({ system, dns: cachedDns(dns, system) })(
      "sip:example.com:5060",
      controller.signal,
    );
    controller.abort();
    await expect(resolution).rejects.toMatchObject({ fault: "closed" });
  });
});

describe("a resolver that fails for a while", () => {
  /** A trunk with an SRV record for one server; `state` is the resolver's current behaviour. */
  function unreliableResolver(options?: CachedDnsOptions) {
    const system = new ManualSystem();
    const resolver: { state: "working" | "failing" | "silent"; slowMs: number; queries: number } = {
      ...{ state: "working", slowMs: 0, queries: 0 },
    };
    async function query<Item>(records: readonly Item[]): Promise<readonly Item[]> {
      resolver.queries++;
      if (resolver.state === "failing") throw Object.assign(new Error("SERVFAIL"), { code: "ESERVFAIL" });
      if (resolver.state === "silent") return new Promise(() => {});
      if (resolver.slowMs > 0) await new Promise<void>((resume) => void system.after(resolver.slowMs, resume));
      return records;
    }
    const record = { priority: 1, weight: 0, name: "a.example.com", port: 5099 };
    const dns: Dns = {
      naptr: () => query([]),
      srv: () => query([record]),
      addresses: (host) => query([host === "a.example.com" ? "192.0.2.1" : "192.0.2.9"]),
    };
    const resolve = createResolve({ system, dns: cachedDns(dns, system, options) });
    const resolveText = async (uri = "sip:example.com;transport=udp"): Promise<string> =>
      (await resolve(uri, never)).map(({ address, port }) => `${address} ${port}`).join();
    return { system, resolver, resolveText };
  }
  const SERVER = "192.0.2.1 5099";

  test("is queried each time, with its last result as a fallback, if it has a cache", async () => {
    const { system, resolver, resolveText } = unreliableResolver({ keepMs: 0 });
    expect([await resolveText(), await resolveText()]).toEqual([SERVER, SERVER]);
    const { queries } = resolver;
    expect(await resolveText()).toBe(SERVER);
    expect(resolver.queries).toBeGreaterThan(queries);
    resolver.state = "failing";
    await system.advance(23 * 3_600_000);
    expect(await resolveText()).toBe(SERVER);
  });

  test("may take longer than 1.5 s for addresses", async () => {
    const { system, resolver, resolveText } = unreliableResolver();
    resolver.slowMs = 3_900;
    const target = resolveText("sip:a.example.com:5070");
    await system.advance(3_900);
    expect(await target).toBe("192.0.2.1 5070");
  });

  test("repeats a failed SRV query next time", async () => {
    const { resolver, resolveText } = unreliableResolver();
    resolver.state = "failing";
    await expect(resolveText()).rejects.toThrow("SERVFAIL");
    resolver.state = "working";
    expect(await resolveText()).toBe(SERVER);
  });

  test("uses its last result for a day of failures", async () => {
    const { system, resolver, resolveText } = unreliableResolver();
    expect(await resolveText()).toBe(SERVER);
    resolver.state = "failing";
    for (let hour = 1; hour < 24; hour++) {
      const { queries } = resolver;
      await system.advance(3_600_000);
      expect(await resolveText()).toBe(SERVER);
      expect(resolver.queries).toBeGreaterThan(queries);
    }
    await system.advance(3_600_000);
    await expect(resolveText()).rejects.toMatchObject({ fault: "dns" });
  });

  test("uses its last result after 1.5 s of silence", async () => {
    const { system, resolver, resolveText } = unreliableResolver();
    await resolveText("sip:a.example.com:5070");
    resolver.state = "silent";
    await system.advance(30_000);
    let resolvedHost = "";
    void resolveText("sip:a.example.com:5070").then((text) => (resolvedHost = text));
    await system.advance(1_499);
    expect(resolvedHost).toBe("");
    await system.advance(1);
    expect(resolvedHost).toBe("192.0.2.1 5070");
    expect(await resolveText("sip:a.example.com:5070")).toBe(resolvedHost); // no time passes
    resolver.state = "working";
    await system.advance(30_000);
    const { queries } = resolver;
    expect(await resolveText("sip:a.example.com:5070")).toBe(resolvedHost);
    expect(resolver.queries).toBe(queries + 1);
    expect(system.waiting).toBe(0);
  });

  test("repeats an address query that timed out, once at a time", async () => {
    const { system, resolver, resolveText } = unreliableResolver();
    resolver.slowMs = 6_000;
    const rejection = expect(resolveText("sip:a.example.com:5070")).rejects.toMatchObject({ fault: "dns" });
    await system.advance(4_000);
    await rejection;
    const retry = resolveText("sip:a.example.com:5070");
    await system.advance(2_000);
    expect(await retry).toBe("192.0.2.1 5070");
    expect(resolver.queries).toBe(1);
  });
});

test("a result is cached for 30 s, a failure is not", async () => {
  const { resolveTexts, queries, system } = zone(ONE_ADDRESS);
  await Promise.all([resolveTexts("sip:example.com:5060"), resolveTexts("sip:example.com:5070")]);
  await system.advance(29_999);
  await resolveTexts("sip:example.com:5060");
  expect(queries).toHaveLength(1);
  await system.advance(1);
  await resolveTexts("sip:example.com:5060");
  expect(queries).toHaveLength(2);
  const brokenZone = zone({ addresses: { "example.com": "ESERVFAIL" } });
  for (let n = 0; n < 2; n++)
    await expect(brokenZone.resolveTexts("sip:example.com:5060")).rejects.toThrow("ESERVFAIL");
  expect(brokenZone.queries).toHaveLength(2);
});

test("the runtime's resolver finds this machine and reports unknown names", async () => {
  const resolve = createResolve({ system: new ManualSystem() });
  const hops = await resolve("sip:localhost:5070", never);
  expect(hops.map(({ address }) => address).some((address) => address === "127.0.0.1" || address === "::1")).toBe(true);
  await expect(resolve("sip:name.invalid:5070", never)).rejects.toMatchObject({ fault: "dns" });
});
