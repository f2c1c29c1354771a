import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { engineClient } from "../../../adapters/provider-http/engine-client.ts";
import { postgresStorage } from "../../../adapters/storage/postgres/postgres-storage.ts";
import { dnsQueries } from "../../../adapters/untrusted-hosts/dns-queries.ts";
import { HostLookup } from "../../../adapters/untrusted-hosts/host-lookup.ts";
import { realSystem } from "../../../src/ports/system.ts";
import { type NameServer, startNameServer } from "../../support/name-server.ts";
import { findPostgres } from "../../support/postgres.ts";
import { Scene } from "../telephony/sip/scene.ts";

/**
 * Users that look up hosts continuously, and concurrent lookups of each; together they exceed the limit for all users.
 */
const [USERS, LOOKUPS] = [40, 8] as const;

const postgres = await findPostgres();

describe("while the name servers of all users' hosts are silent", () => {
  let nameServer: NameServer;
  const scope = new AbortController();
  let lookups: Promise<unknown>;

  beforeAll(async () => {
    nameServer = await startNameServer(() => "silence");
    const hosts = new HostLookup({ queries: dnsQueries({ system: realSystem, nameServers: [nameServer.address] }) });
    let count = 0;
    const lookUp = async (user: string): Promise<void> => {
      while (!scope.signal.aborted)
        await hosts.addresses(`silent${count++}.example.com`, user, scope.signal).catch(() => {});
    };
    lookups = Promise.all(Array.from({ length: USERS * LOOKUPS }, (_, index) => lookUp(`usr_${index % USERS}`)));
    await vi.waitFor(() => expect(nameServer.queries.length).toBeGreaterThanOrEqual(256), 10_000);
  });
  afterAll(async () => {
    scope.abort();
    await lookups;
    await nameServer.close();
  });

  test("a trunk with a host name goes online, and its calls are answered", async () => {
    const { farEnd } = await Scene.open({}, { callees: { "*": { says: { hz: 1_000 } } } });
    const scene = await Scene.open({ server: `sip:localhost:${farEnd.port}` });
    const { leg, events } = await scene.call("+12025550100");
    await events.next("connected", 5_000);
    expect(farEnd.calls).toHaveLength(1);
    await leg.hangUp();
  });

  test("an engine with a host name responds", async () => {
    const engine = createServer((_, response) => void response.end("spoken"));
    await new Promise<void>((resolve) => engine.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void engine.close());
    const url = `http://localhost:${(engine.address() as AddressInfo).port}/v1/audio/speech`;
    const client = engineClient({ timeoutMs: 10_000 });
    const replies = await Promise.all(Array.from({ length: 8 }, () => client.post(url).text()));
    expect(replies).toEqual(replies.map(() => "spoken"));
  });

  test.skipIf(postgres.missing)(
    `a database with a host name is opened and read, and its lease renewed, on ${postgres.title}`,
    async () => {
      const server = await postgres.start();
      onTestFinished(() => server.stop());
      const url = new URL(await server.createDatabase());
      url.hostname = "localhost";
      const storage = postgresStorage({ url: url.href });
      await storage.open({ exclusive: true });
      await storage.lease?.renew();
      const reads = await Promise.all(Array.from({ length: 20 }, (_, index) => storage.calls.get(`call_${index}`)));
      expect(reads.every((call) => call === undefined)).toBe(true);
      await storage.close();
    },
  );
});
