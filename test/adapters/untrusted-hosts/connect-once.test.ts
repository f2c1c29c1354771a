import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectOnce } from "../../../adapters/untrusted-hosts/public-connection.ts";
import { certificateAuthority } from "../../support/certificates.ts";

const HOST = "tools.example.com";
const authority = certificateAuthority();
const hosts = { addresses: async () => [{ address: "127.0.0.1", family: 4 }] };

describe("a connection to a server", () => {
  let [connections, requests] = [0, 0];
  const server = createServer(authority.issue({ names: [HOST] }), () => requests++);
  server.on("secureConnection", () => connections++);
  let port = 0;
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    ({ port } = server.address() as AddressInfo);
  });
  afterAll(() => server.close());

  const connectTo = (host: string, options: object, signal = new AbortController().signal) =>
    connectOnce(new URL(`https://${host}:${port}`), { hosts, ...options }, { user: "usr_1", signal });

  test("is opened over TLS and closed unused", async () => {
    await connectTo(HOST, { allowPrivate: true, ca: authority.ca });
    await expect.poll(() => connections).toBe(1);
    expect(requests).toBe(0);
  });

  test("fails with the reason for a wrong name, an unknown CA and a private address", async () => {
    await expect(connectTo("other.example.com", { allowPrivate: true, ca: authority.ca })).rejects.toThrow(/altnames/);
    await expect(connectTo(HOST, { allowPrivate: true })).rejects.toThrow(/certificate/);
    await expect(connectTo(HOST, { ca: authority.ca })).rejects.toThrow(`"${HOST}" has no public address`);
    await expect(connectTo("127.0.0.1", {})).rejects.toThrow("has no public address");
  });

  test("ends when its signal is aborted", async () => {
    const hangingLookup = { allowPrivate: true, hosts: { addresses: () => new Promise<never>(() => {}) } };
    const [scope, reason] = [new AbortController(), new Error("it took too long")];
    const pendingConnection = connectTo(HOST, hangingLookup, scope.signal);
    scope.abort(reason);
    await expect(pendingConnection).rejects.toBe(reason);
  });
});
