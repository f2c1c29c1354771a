import { get } from "node:https";
import { afterEach, describe, expect, test } from "vitest";
import type { Listening, ServeOptions } from "../../../adapters/server/listening.ts";
import { certificateAuthority } from "../../support/certificates.ts";
import { fakeApp, textReply } from "./fake-app.ts";
import { sendRaw } from "./raw.ts";
import { serveHere } from "./this-runtime.ts";

const servers: Listening[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

/** The head and the body of the response to one request, and the number of requests that reached the application. */
async function sendRequest(
  host: string,
  publicUrl?: string,
  { upgrade = false, ...options }: ServeOptions & { readonly upgrade?: boolean } = {},
): Promise<{ text: string; status: number; requests: number }> {
  let requests = 0;
  const count = () => textReply(upgrade ? 409 : 200, String(++requests));
  const server = await serveHere({ ...fakeApp({ handle: count, upgrade: count }), publicUrl }, options);
  servers.push(server);
  const headers = upgrade ? "Connection: Upgrade\r\nUpgrade: websocket\r\n" : "Connection: close\r\n";
  const { text } = await sendRaw(server.port, `GET / HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n`, { responses: 1 });
  return { text, status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]), requests };
}

const LOOPBACK_HOSTS = ["127.0.0.1:8080", "127.8.9.1", "localhost", "LOCALHOST:8080", "calls.localhost", "[::1]:8080"];
const FOREIGN_HOSTS = [
  "evil.example",
  "evil.example:8080",
  "127.0.0.1.evil.example",
  "localhost.evil.example",
  "notlocalhost",
  "0.0.0.0:8080",
  "192.168.1.5",
];

describe("a server on loopback without a public URL", () => {
  test.each(LOOPBACK_HOSTS)("accepts %s", async (host) => {
    expect(await sendRequest(host)).toMatchObject({ status: 200, requests: 1 });
    expect(await sendRequest(host, "http://localhost:8080")).toMatchObject({ status: 200, requests: 1 });
  });

  // A page of another site whose name has been rebound to 127.0.0.1 has the same origin as the server.
  test.each(FOREIGN_HOSTS)("refuses %s before the application gets it, and names the fix", async (host) => {
    for (const upgrade of [false, true])
      for (const publicUrl of [undefined, "http://127.0.0.1:8080"]) {
        const { text, ...statusAndRequests } = await sendRequest(host, publicUrl, { upgrade });
        expect(statusAndRequests).toEqual({ status: 421, requests: 0 });
        expect(text).toContain('"code":"host_not_allowed"');
        expect(text).toContain(host.replace(":8080", ""));
        expect(text).toContain("RINGPORT_PUBLIC_URL");
      }
  });
});

describe("any other server", () => {
  test.each(FOREIGN_HOSTS)("accepts %s", async (host) => {
    expect(await sendRequest(host, "https://calls.example.com")).toMatchObject({ status: 200, requests: 1 });
    expect(await sendRequest(host, undefined, { hostname: "0.0.0.0" })).toMatchObject({ status: 200, requests: 1 });
  });
});

const HSTS = /^strict-transport-security: max-age=31536000\r$/im;

describe("Strict-Transport-Security", () => {
  test("is in every response of a server reached over HTTPS", async () => {
    for (const upgrade of [false, true])
      expect((await sendRequest("calls.example.com", "https://calls.example.com", { upgrade })).text).toMatch(HSTS);
  });

  test.each([
    "http://calls.example.com",
    "https://localhost:8443",
    "https://127.0.0.1/voice",
    "https://[::1]",
    undefined,
  ])("is missing if the public URL is %s", async (publicUrl) => {
    expect((await sendRequest("localhost", publicUrl)).text).not.toMatch(/strict-transport/i);
  });

  test.each(LOOPBACK_HOSTS)("is missing for %s behind a proxy that has the certificate", async (host) => {
    for (const upgrade of [false, true])
      expect((await sendRequest(host, "https://calls.example.com", { upgrade })).text).not.toMatch(/strict-transport/i);
  });

  test("depends on the request's host if the server has a certificate", async () => {
    const authority = certificateAuthority();
    const tls = authority.issue({ names: ["calls.example.com", "127.0.0.1", "localhost"] });
    const server = await serveHere({ ...fakeApp(), publicUrl: "https://calls.example.com" }, { tls });
    servers.push(server);
    const header = (host: string) =>
      new Promise<unknown>((resolve, reject) => {
        const options = { ca: authority.ca, agent: false, headers: { host } };
        get(server.url, options, (response) => {
          response.resume();
          resolve(response.headers["strict-transport-security"]);
        }).on("error", reject);
      });
    expect(await header("calls.example.com")).toBe("max-age=31536000");
    expect(await header("127.0.0.1")).toBeUndefined();
    expect(await header(`localhost:${server.port}`)).toBeUndefined();
  });
});
