import { afterEach, describe, expect, test } from "vitest";
import { dnsQueries } from "../../../adapters/untrusted-hosts/dns-queries.ts";
import { realSystem } from "../../../src/ports/system.ts";
import { type NameAnswer, type NameServer, startNameServer } from "../../support/name-server.ts";

const servers: NameServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function startQueries(answer: (name: string) => NameAnswer | undefined) {
  const server = await startNameServer(answer);
  servers.push(server);
  return { server, queries: dnsQueries({ system: realSystem, nameServers: [server.address] }) };
}

const neverAborted = new AbortController().signal;
const addressesOf = (records: readonly { readonly address: string }[]) => records.map(({ address }) => address);

describe("a query for addresses", () => {
  test("returns addresses of both families", async () => {
    const { queries } = await startQueries(() => ["192.0.2.1", "2001:db8::7"]);
    const addresses = await queries.addresses("both.example.com", neverAborted);
    expect([...addresses].sort((a, b) => a.family - b.family)).toEqual([
      { address: "192.0.2.1", family: 4 },
      { address: "2001:db8::7", family: 6 },
    ]);
  });

  test("returns no addresses for a name without records", async () => {
    const { queries } = await startQueries((name) => (name.startsWith("empty") ? [] : undefined));
    expect(await queries.addresses("empty.example.com", neverAborted)).toEqual([]);
    expect(await queries.addresses("missing.example.com", neverAborted)).toEqual([]);
    expect(await queries.srv("_sip._udp.missing.example.com", neverAborted)).toEqual([]);
    expect(await queries.naptr("missing.example.com", neverAborted)).toEqual([]);
  });

  test("does not wait for an address family without a response", async () => {
    const { queries } = await startQueries(() => "silence for IPv6");
    expect(addressesOf(await queries.addresses("half.example.com", neverAborted))).toEqual(["127.0.0.1"]);
  });

  test.each<NameAnswer>(["silence", "only over TCP, which is silent"])(
    "ends as soon as its signal aborts, closing its connections: %s",
    async (answer) => {
      const { server, queries } = await startQueries(() => answer);
      const scope = new AbortController();
      const lookup = queries.addresses("silent.example.com", scope.signal);
      lookup.catch(() => {});
      await expect.poll(() => (answer === "silence" ? server.queries.length : server.connections)).toBeGreaterThan(0);
      scope.abort();
      await expect(lookup).rejects.toMatchObject({ code: "ECANCELLED" });
      await expect.poll(() => server.connections).toBe(0);
    },
  );
});
