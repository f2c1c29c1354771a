import { lookup } from "node:dns/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dnsQueries } from "../../../adapters/user-hosts/dns-queries.ts";
import { HostLookup } from "../../../adapters/user-hosts/host-lookup.ts";
import { httpSender } from "../../../adapters/user-hosts/http-sender.ts";
import { realSystem } from "../../../src/ports/system.ts";
import { type NameAnswer, type NameServer, startNameServer } from "../../support/name-server.ts";

describe.each<NameAnswer>(["silence", "only over TCP, which is silent"])("a name server with %s", (silence) => {
  let names: NameServer;
  const received: string[] = [];
  const endpoint = createServer((request, response) => {
    received.push(String(request.headers.host));
    response.writeHead(204).end();
  });
  let port = 0;
  beforeAll(async () => {
    names = await startNameServer((name) => (name.startsWith("silent") ? silence : ["127.0.0.1"]));
    await new Promise<void>((listening) => endpoint.listen(0, "127.0.0.1", listening));
    port = (endpoint.address() as AddressInfo).port;
  });
  afterAll(async () => {
    endpoint.close();
    await names.close();
  });

  test("holds back only its user's webhooks, and no lookup of the server's own hosts", async () => {
    const hosts = new HostLookup({ queries: dnsQueries({ system: realSystem, nameServers: [names.place] }) });
    const sender = httpSender({ allowPrivate: true, hosts });
    const ended = new AbortController();
    const send = (userId: string, host: string) =>
      sender.post({ userId, url: `http://${host}:${port}/`, headers: {}, body: "{}", signal: ended.signal });

    let failed = 0;
    const silent = Array.from({ length: 100 }, (_, index) =>
      send("usr_silent", `silent${index}.example.com`).catch(() => void failed++),
    );
    await expect.poll(() => names.asked.length).toBeGreaterThanOrEqual(8);
    // Databases, trunks and engines of the operator look up their hosts this way, on the threads of the process.
    const localLookups = await Promise.all(Array.from({ length: 8 }, () => lookup("localhost")));
    expect(localLookups).toHaveLength(8);
    const delivered = await Promise.all(
      Array.from({ length: 20 }, (_, index) => send("usr_healthy", `hooks${index}.example.com`)),
    );
    expect(delivered.every((status) => status === 204)).toBe(true);
    expect(received).toHaveLength(20);
    // All of this happened before the first of the other lookups timed out.
    expect(failed).toBe(0);
    ended.abort(new Error("the server stops"));
    await Promise.all(silent);
    expect(failed).toBe(100);
    await expect.poll(() => names.connections).toBe(0);
  });

  test("leaves names of this machine alone", async () => {
    const hosts = new HostLookup({ queries: dnsQueries({ system: realSystem, nameServers: [names.place] }) });
    const sender = httpSender({ allowPrivate: true, hosts });
    const { signal } = new AbortController();
    const url = `http://localhost:${port}/`;
    expect(await sender.post({ userId: "usr_1", url, headers: {}, body: "{}", signal })).toBe(204);
    const closed = httpSender({ hosts }).post({
      userId: "usr_1",
      url: url.replace("http", "https"),
      headers: {},
      body: "{}",
      signal,
    });
    await expect(closed).rejects.toThrow('the host "localhost" has no public address');
  });
});
