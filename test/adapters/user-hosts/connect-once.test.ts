import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectOnce } from "../../../adapters/user-hosts/public-connection.ts";
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
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    ({ port } = server.address() as AddressInfo);
  });
  afterAll(() => server.close());

  const connected = (host: string, options: object, signal = new AbortController().signal) =>
    connectOnce(new URL(`https://${host}:${port}`), { hosts, ...options }, { user: "usr_1", signal });

  test("is opened over TLS and closed unused", async () => {
    await connected(HOST, { allowPrivate: true, ca: authority.ca });
    await expect.poll(() => connections).toBe(1);
    expect(requests).toBe(0);
  });

  test("fails with the reason for a wrong name, an unknown authority and a private address", async () => {
    await expect(connected("other.example.com", { allowPrivate: true, ca: authority.ca })).rejects.toThrow(/altnames/);
    await expect(connected(HOST, { allowPrivate: true })).rejects.toThrow(/certificate/);
    await expect(connected(HOST, { ca: authority.ca })).rejects.toThrow(`"${HOST}" has no public address`);
    await expect(connected("127.0.0.1", {})).rejects.toThrow("has no public address");
  });

  test("ends when its signal is aborted", async () => {
    const never = { allowPrivate: true, hosts: { addresses: () => new Promise<never>(() => {}) } };
    const [late, reason] = [new AbortController(), new Error("it took too long")];
    const connecting = connected(HOST, never, late.signal);
    late.abort(reason);
    await expect(connecting).rejects.toBe(reason);
  });
});
