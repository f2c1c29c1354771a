import { afterEach, describe, expect, test } from "vitest";
import { dnsQueries } from "../../../adapters/user-hosts/dns-queries.ts";
import { realSystem } from "../../../src/ports/system.ts";
import { type NameAnswer, type NameServer, startNameServer } from "../../support/name-server.ts";

const servers: NameServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function asking(answer: (name: string) => NameAnswer | undefined) {
  const server = await startNameServer(answer);
  servers.push(server);
  return { server, queries: dnsQueries({ system: realSystem, nameServers: [server.place] }) };
}

const never = new AbortController().signal;
const addressesOf = (found: readonly { readonly address: string }[]) => found.map(({ address }) => address);

describe("a query for addresses", () => {
  test("returns addresses of both families", async () => {
    const { queries } = await asking(() => ["192.0.2.1", "2001:db8::7"]);
    const found = await queries.addresses("both.example.com", never);
    expect([...found].sort((one, other) => one.family - other.family)).toEqual([
      { address: "192.0.2.1", family: 4 },
      { address: "2001:db8::7", family: 6 },
    ]);
  });

  test("returns no addresses for a name without records", async () => {
    const { queries } = await asking((name) => (name.startsWith("empty") ? [] : undefined));
    expect(await queries.addresses("empty.example.com", never)).toEqual([]);
    expect(await queries.addresses("missing.example.com", never)).toEqual([]);
    expect(await queries.srv("_sip._udp.missing.example.com", never)).toEqual([]);
    expect(await queries.naptr("missing.example.com", never)).toEqual([]);
  });

  test("does not wait for a family without a response", async () => {
    const { queries } = await asking(() => "silence for IPv6");
    expect(addressesOf(await queries.addresses("half.example.com", never))).toEqual(["127.0.0.1"]);
  });

  test.each<NameAnswer>(["silence", "only over TCP, which is silent"])(
    "ends immediately with its signal, closing its connections: %s",
    async (answer) => {
      const { server, queries } = await asking(() => answer);
      const ending = new AbortController();
      const found = queries.addresses("silent.example.com", ending.signal);
      found.catch(() => {});
      await expect.poll(() => (answer === "silence" ? server.asked.length : server.connections)).toBeGreaterThan(0);
      ending.abort();
      await expect(found).rejects.toMatchObject({ code: "ECANCELLED" });
      await expect.poll(() => server.connections).toBe(0);
    },
  );
});
