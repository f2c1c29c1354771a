import { createServer as createHttpServer } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { hostAddress } from "../../../adapters/untrusted-hosts/host-address.ts";
import { HostLookup, LookupFailed } from "../../../adapters/untrusted-hosts/host-lookup.ts";
import { type HttpSenderOptions, httpSender } from "../../../adapters/untrusted-hosts/http-sender.ts";
import { certificateAuthority } from "../../support/certificates.ts";

const HOST = "hooks.example.com";
const authority = certificateAuthority();
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

interface ReceivedRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly host: string | undefined;
  readonly type: string | undefined;
  readonly body: string;
}

/** An endpoint on this machine; `respond` returns the status, or undefined for no response. */
async function startEndpoint({ names = [HOST], tls = true, respond = (): number | undefined => 204 } = {}) {
  const receivedRequests: ReceivedRequest[] = [];
  let connections = 0;
  const server = (tls ? createServer(authority.issue({ names })) : createHttpServer()) as Server;
  server.on("connection", () => void connections++);
  server.on("request", async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const { method, url, headers } = request;
    receivedRequests.push({ method, url, host: headers.host, type: headers["content-type"], body });
    const status = respond();
    if (status !== undefined)
      response.writeHead(status, { location: `https://${HOST}/elsewhere` }).end("x".repeat(1e6));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { receivedRequests, port, connections: () => connections };
}

function send(url: string, options: Partial<HttpSenderOptions>, signal: AbortSignal = new AbortController().signal) {
  const headers = { "content-type": "application/json", "webhook-id": "evt_1" };
  const sender = httpSender({ ca: authority.ca, hosts: new HostLookup(), ...options });
  return sender.post({ userId: "usr_1", url, headers, body: '{"é":1}', signal });
}

const fixedLookup = (...addresses: string[]) => ({ addresses: async () => addresses.map(hostAddress) });

describe("a webhook delivery", () => {
  test("reaches the endpoint over TLS by name", async () => {
    const { receivedRequests, port } = await startEndpoint();
    const options = { allowPrivate: true, hosts: fixedLookup("127.0.0.1") };
    expect(await send(`https://${HOST}:${port}/in?x=1`, options)).toBe(204);
    expect(receivedRequests).toEqual([
      { method: "POST", url: "/in?x=1", host: `${HOST}:${port}`, type: "application/json", body: '{"é":1}' },
    ]);
  });

  test("does not follow a redirect", async () => {
    const { receivedRequests, port } = await startEndpoint({ respond: () => 307 });
    const options = { allowPrivate: true, hosts: fixedLookup("127.0.0.1") };
    expect(await send(`https://${HOST}:${port}/`, options)).toBe(307);
    expect(receivedRequests).toHaveLength(1);
  });

  test("fails if the certificate is for another name", async () => {
    const { receivedRequests, port } = await startEndpoint({ names: ["other.example.com"] });
    const options = { allowPrivate: true, hosts: fixedLookup("127.0.0.1") };
    await expect(send(`https://${HOST}:${port}/`, options)).rejects.toThrow(/altnames/i);
    expect(receivedRequests).toEqual([]);
  });

  test("ends when its signal is aborted", async () => {
    const scope = new AbortController();
    const { port } = await startEndpoint({ respond: () => void scope.abort() });
    await expect(send(`http://127.0.0.1:1/`, { allowPrivate: true }, AbortSignal.abort())).rejects.toThrow();
    const options = { allowPrivate: true, hosts: fixedLookup("127.0.0.1") };
    await expect(send(`https://${HOST}:${port}/`, options, scope.signal)).rejects.toThrow();
  });

  test("needs no TLS if private hosts are allowed", async () => {
    const { receivedRequests, port } = await startEndpoint({ tls: false });
    expect(await send(`http://127.0.0.1:${port}/`, { allowPrivate: true })).toBe(204);
    expect(receivedRequests).toHaveLength(1);
  });
});

describe("the guard", () => {
  test.each([
    ...["127.0.0.1", "10.0.0.1", "169.254.169.254", "100.64.0.1", "::1", "fd00:ec2::254", "::ffff:127.0.0.1"],
  ])("never connects to names resolving to %s", async (address) => {
    const { port, connections } = await startEndpoint();
    const delivery = send(`https://${HOST}:${port}/`, { hosts: fixedLookup(address) });
    await expect(delivery).rejects.toThrow(`the host "${HOST}" has no public address`);
    expect(connections()).toBe(0);
  });

  test.each(["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1"])(
    "never connects to the address %s",
    async (host) => {
      const { port, connections } = await startEndpoint();
      await expect(send(`https://${host}:${port}/`, {})).rejects.toThrow(/has no public address/);
      expect(connections()).toBe(0);
    },
  );

  test("looks a name up once, and connects to the address that it checked", async () => {
    const { port, connections } = await startEndpoint();
    let lookups = 0;
    const addresses = async () => [hostAddress(lookups++ === 0 ? "127.0.0.1" : "2001:db8::1")];
    expect(await send(`https://${HOST}:${port}/`, { allowPrivate: true, hosts: { addresses } })).toBe(204);
    expect([lookups, connections()]).toEqual([1, 1]);
  });

  test("refuses plain HTTP", async () => {
    await expect(send("http://8.8.8.8/", {})).rejects.toThrow("the URL is not https");
  });

  test("names the host that does not exist, or cannot be looked up", async () => {
    await expect(send(`https://${HOST}/`, { hosts: fixedLookup() })).rejects.toThrow(
      `the host "${HOST}" has no address`,
    );
    const addresses = () => Promise.reject(new LookupFailed(HOST, "ETIMEOUT"));
    const delivery = send(`https://${HOST}/`, { hosts: { addresses } });
    await expect(delivery).rejects.toThrow(`the host "${HOST}" cannot be looked up: its name servers do not respond`);
  });
});
