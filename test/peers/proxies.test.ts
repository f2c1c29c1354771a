import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { certificateAuthority } from "../support/certificates.ts";
import { PATH_SPELLINGS } from "../support/path-spellings.ts";
import { describeEach, ON_NODE, ON_OTHER_RUNTIMES, useServer } from "../support/server.ts";
import { expected, until } from "../support/server-client.ts";
import { type ShippedProxy, startCaddy, startNginx } from "./shipped-proxy.ts";
import { folder, withTools } from "./tools.ts";

const authority = certificateAuthority();
const FROM_PAGE = "Sec-Fetch-Site: same-origin\r\nContent-Type: application/json\r\n";
/** Each runtime has its own parser in front of the server. */
const TARGETS = [ON_NODE, ...ON_OTHER_RUNTIMES.filter(({ runtime }) => runtime.name !== "node22")];
const statusOf = (text: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]);
const head = (method: string, target: string, fields = ""): string =>
  `${method} ${target} HTTP/1.1\r\nHost: calls.example.com\r\n${fields}`;

for (const [tool, start] of [
  ["nginx", startNginx],
  ["caddy", startCaddy],
] as const)
  withTools(`${tool}, with the configuration file shipped with Ringport`, [tool], () => {
    const parentFolder = folder();

    describeEach(TARGETS, (target) => {
      const server = useServer(target, { env: { RINGPORT_PUBLIC_URL: "https://calls.example.com" } });
      let proxy: ShippedProxy;
      beforeAll(async () => {
        proxy = await start({ upstream: portOf(server), folder: join(parentFolder, target.runtime.name), authority });
      });
      afterAll(() => proxy?.stop());

      test("pages and API requests pass", async () => {
        expect(statusOf(await proxy.send(head("GET", "/docs")))).toBe(200);
        expect(statusOf(await proxy.send(head("GET", "/v1/calls")))).toBe(401);
        expect(statusOf(await proxy.send(head("GET", "/console/api/session", FROM_PAGE)))).toBe(200);
      });

      test.each(["/metrics", "/metrics?x", "/metrics?a=/../b", ...PATH_SPELLINGS.map(({ target }) => target)])(
        "%s does not expose the metrics",
        async (target) => {
          const text = await proxy.send(head("GET", target));
          expect([400, 404]).toContain(statusOf(text));
          expect(text).not.toContain("ringport_");
        },
      );
    });

    describe("its log", () => {
      const server = useServer(ON_NODE, { env: { RINGPORT_PUBLIC_URL: "https://calls.example.com" } });
      let proxy: ShippedProxy;
      beforeAll(async () => {
        proxy = await start({ upstream: portOf(server), folder: join(parentFolder, "log"), authority });
      });
      afterAll(() => proxy?.stop());

      test("has requests, but no address that links a phone", async () => {
        const client = await server.as("ada");
        const { id } = await client.createInstance();
        const page = expected(201, await client.post(`/v1/instances/${id}/link-page`, undefined));
        const { message } = expected(200, await client.get(`/v1/instances/${id}/configure`)).json<{
          message: string;
        }>();
        const secrets = [
          page.json<{ url: string }>().url,
          /https:\S+\/simulator\/[^\s"]+/.exec(message)?.[0] ?? "",
        ].map((url) => new URL(url).pathname);
        for (const path of secrets) {
          expect(path).toMatch(/^\/(link-page|simulator\/link)\/[\w.~-]{10,}$/);
          const request = head("GET", path, "Accept: text/html\r\n");
          expect(statusOf(await proxy.send(request))).toBe(200);
          await proxy.send(head("GET", `/console${path}`));
        }
        expect(statusOf(await proxy.send(head("GET", "/docs?seen=1")))).toBe(200);
        await server.stop();
        for (const path of secrets) expect(statusOf(await proxy.send(head("GET", path)))).toBe(502);
        expect(statusOf(await proxy.send(head("GET", "/docs?seen=2")))).toBe(502);
        await until(
          () => proxy.logText(),
          (text) => text.includes("/docs?seen=1") && text.includes("/docs?seen=2"),
          10_000,
          "the requests in the log",
        );
        for (const path of secrets) expect(proxy.logText()).not.toContain(path.split("/").at(-1));
      });
    });

    if (tool === "nginx")
      test("sign-ins, registrations and resets from one address share a limit; other requests have none", async () => {
        const upstream = await startCounter();
        const proxy = await start({ upstream: upstream.port, folder: join(parentFolder, "rates"), authority });
        const paths = ["sign-in", "register", "password-reset"].map((path) => `/console/api/${path}`);
        const statuses: number[] = [];
        for (let i = 0; i < 30; i++)
          statuses.push(statusOf(await proxy.send(head("POST", paths[i % 3] ?? "", FROM_PAGE), "{}")));
        // One immediately, and ten more in a burst; then one every six seconds.
        expect(statuses.slice(0, 11)).toEqual(Array(11).fill(204));
        expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(15);
        expect(statuses.every((status) => status === 204 || status === 429)).toBe(true);
        expect(upstream.count()).toBe(statuses.filter((status) => status === 204).length + 1); // and /healthz
        for (let i = 0; i < 30; i++)
          expect(statusOf(await proxy.send(head("GET", "/console/api/session", FROM_PAGE)))).toBe(204);
        for (const path of ["//console/api/sign-in", "/x/../console/api/sign-in", "/console/api/%73ign-in"])
          expect(statusOf(await proxy.send(head("POST", path, FROM_PAGE), "{}"))).toBe(429);
        await proxy.stop();
        upstream.close();
      });
  });

const portOf = ({ base }: { readonly base: string }): number => Number(new URL(base).port);

/** Starts a server that counts its requests. */
async function startCounter(): Promise<{ port: number; count(): number; close(): void }> {
  let count = 0;
  const server = createServer((request, response) => {
    count++;
    response.writeHead(request.url === "/healthz" ? 200 : 204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: (server.address() as AddressInfo).port, count: () => count, close: () => server.close() };
}
