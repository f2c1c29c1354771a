import { lookup } from "node:dns/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dnsQueries } from "../../../adapters/untrusted-hosts/dns-queries.ts";
import { HostLookup } from "../../../adapters/untrusted-hosts/host-lookup.ts";
import { httpSender } from "../../../adapters/untrusted-hosts/http-sender.ts";
import { realSystem } from "../../../src/ports/system.ts";
import { type NameAnswer, type NameServer, startNameServer } from "../../support/name-server.ts";

describe.each<NameAnswer>(["silence", "only over TCP, which is silent"])("a name server with %s", (silence) => {
  let nameServer: NameServer;
  const receivedHosts: string[] = [];
  const endpoint = createServer((request, response) => {
    receivedHosts.push(String(request.headers.host));
    response.writeHead(204).end();
  });
  let port = 0;
  beforeAll(async () => {
    nameServer = await startNameServer((name) => (name.startsWith("silent") ? silence : ["127.0.0.1"]));
    await new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve));
    port = (endpoint.address() as AddressInfo).port;
  });
  afterAll(async () => {
    endpoint.close();
    await nameServer.close();
  });

  test("delays only its user's webhooks, and no lookup of the server's own hosts", async () => {
    const hosts = new HostLookup({ queries: dnsQueries({ system: realSystem, nameServers: [nameServer.address] }) });
    const sender = httpSender({ allowPrivate: true, hosts });
    const scope = new AbortController();
    const send = (userId: string, host: string) =>
      sender.post({ userId, url: `http://${host}:${port}/`, headers: {}, body: "{}", signal: scope.signal });

    let failures = 0;
    const silentDeliveries = Array.from({ length: 100 }, (_, index) =>
      send("usr_silent", `silent${index}.example.com`).catch(() => void failures++),
    );
    await expect.poll(() => nameServer.queries.length).toBeGreaterThanOrEqual(8);
    // The hosts of the operator's databases, trunks and engines are looked up this way, in the process's thread pool.
    const localLookups = await Promise.all(Array.from({ length: 8 }, () => lookup("localhost")));
    expect(localLookups).toHaveLength(8);
    const statuses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => send("usr_healthy", `hooks${index}.example.com`)),
    );
    expect(statuses.every((status) => status === 204)).toBe(true);
    expect(receivedHosts).toHaveLength(20);
    // None of the other user's lookups has timed out by now.
    expect(failures).toBe(0);
    scope.abort(new Error("the server stops"));
    await Promise.all(silentDeliveries);
    expect(failures).toBe(100);
    await expect.poll(() => nameServer.connections).toBe(0);
  });

  test("does not affect this machine's names", async () => {
    const hosts = new HostLookup({ queries: dnsQueries({ system: realSystem, nameServers: [nameServer.address] }) });
    const sender = httpSender({ allowPrivate: true, hosts });
    const { signal } = new AbortController();
    const url = `http://localhost:${port}/`;
    expect(await sender.post({ userId: "usr_1", url, headers: {}, body: "{}", signal })).toBe(204);
    const httpsRequest = httpSender({ hosts }).post({
      userId: "usr_1",
      url: url.replace("http", "https"),
      headers: {},
      body: "{}",
      signal,
    });
    await expect(httpsRequest).rejects.toThrow('the host "localhost" has no public address');
  });
});
