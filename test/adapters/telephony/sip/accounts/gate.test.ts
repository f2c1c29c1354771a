import { createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { sip } from "../../../../../adapters/telephony/sip/index.ts";
import { hostAddress } from "../../../../../adapters/untrusted-hosts/host-address.ts";
import { HostLookup } from "../../../../../adapters/untrusted-hosts/host-lookup.ts";
import type { Network } from "../../../../../src/ports/network-pages.ts";
import { TestLineHost } from "../../../../../src/testing/telephony-host.ts";
import { onOnePort } from "../../../../support/one-port.ts";
import { callees, type FarEnd, startFarEnd } from "../../../../support/sip/far-end.ts";
import { requestPage } from "./enter.ts";

const SOON_MS = 5_000;
const SRV_PORT = 5_999;

let farEnd: FarEnd;
/** Number of TCP connections to the remote port. */
let connections: number;
const closers: (() => void | Promise<void>)[] = [];

beforeEach(async () => {
  connections = 0;
  const tcp = createServer(() => void connections++);
  farEnd = await onOnePort(tcp, (port) => startFarEnd({ port, callees: { "+12025550100": callees.answers } }));
  closers.push(
    () => farEnd.close(),
    () => void tcp.close(),
  );
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** The page for a line in an account network with these options. */
async function page(accounts: NonNullable<Parameters<typeof sip>[0]["accounts"]>, storedCredentials?: Uint8Array) {
  const [telephony] = sip({ trunks: [], accounts }) as [Network];
  closers.push(() => telephony.close());
  const host = new TestLineHost(storedCredentials);
  const instance = { id: "inst_1", userId: "usr_1", name: "Reception" };
  const line = await telephony.open(instance, host, new AbortController().signal);
  const enter = async (fields: Readonly<Record<string, string>>) => {
    await line.link();
    const { code } = await host.reports.next("code", SOON_MS);
    return requestPage(telephony, code.payload, { transport: "udp", user: "tom", register: "on", ...fields });
  };
  return { host, line, enter };
}

/** Resolves every lookup to this machine, including SRV records. */
function resolveNamesToLoopback(): void {
  vi.spyOn(HostLookup.prototype, "addresses").mockImplementation(async () => [hostAddress("127.0.0.1")]);
  vi.spyOn(HostLookup.prototype, "naptr").mockImplementation(async () => []);
  vi.spyOn(HostLookup.prototype, "srv").mockImplementation(async (name) =>
    name.startsWith("_sip._") ? [{ priority: 1, weight: 1, name: "inside.example.com", port: SRV_PORT }] : [],
  );
}

describe("an account's server", () => {
  test.each(["udp", "tcp", "tls"])(
    "is never an address of this machine or its networks, over %s",
    async (transport) => {
      const { enter, host } = await page(true);
      for (const server of ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "pbx.internal"]) {
        const reply = await enter({ server: `${server}:${farEnd.port}`, transport });
        expect([server, reply.status]).toEqual([server, 422]);
        expect(reply.html).toMatch(/id="server-fault">is not on the public Internet/);
      }
      expect([farEnd.requests, connections, host.stored]).toEqual([[], 0, undefined]);
    },
  );

  test.each(["udp", "tcp", "tls"])("is never a name that resolves to one, over %s", async (transport) => {
    resolveNamesToLoopback();
    const { enter, host } = await page(true);
    const directReply = await enter({ server: `rebound.example.com:${farEnd.port}`, transport });
    expect(directReply.html).toContain("rebound.example.com has no public address");
    const srvReply = await enter({ server: "rebound.example.com", transport });
    expect(srvReply.html).toContain("has no public address");
    expect([directReply.status, srvReply.status]).toEqual([422, 422]);
    expect([farEnd.requests, connections, host.stored]).toEqual([[], 0, undefined]);
  });

  test("may be one if the operator allows it, or lists the server by its full name", async () => {
    resolveNamesToLoopback();
    const server = `pbx.example.com:${farEnd.port}`;
    for (const accounts of [{ allowPrivate: true }, { servers: ["pbx.example.com"] }])
      expect((await (await page(accounts)).enter({ server })).status).toBe(200);
    const listedDomain = await page({ servers: ["*.example.com"] });
    expect((await listedDomain.enter({ server })).html).toContain("has no public address");
  });

  test("stays stored, with its line offline, if it is forbidden after linking", async () => {
    const permissivePage = await page({ allowPrivate: true });
    await permissivePage.enter({ server: `127.0.0.1:${farEnd.port}` });
    const { stored } = permissivePage.host;
    await permissivePage.line.close();
    const requestCount = farEnd.requests.length;
    const { host, line } = await page(true, stored);
    await expect
      .poll(() => line.probe())
      .toMatchObject({
        state: "offline",
        lasting: true,
        reason: expect.stringContaining("not on the public Internet"),
      });
    expect([host.stored, farEnd.requests.length]).toEqual([stored, requestCount]);
  });
});
