import { afterEach, describe, expect, test } from "vitest";
import { expectProblem, MISSING_IDS } from "../support/response-shapes.ts";
import { describeEach, ON_NODE, ON_OTHER_RUNTIMES, type Server, useServer } from "../support/server.ts";
import { expected } from "../support/server-client.ts";
import { countRows } from "../support/server-database.ts";
import { bytesOf, sendRaw } from "../support/server-http.ts";

/** Maximum time for a request: longer work would let a client stall the server. */
const ONE_SECOND_MS = 1_000;
const MEGABYTE = 1024 * 1024;

/** Asserts that the response costs the server little work. */
async function expectQuick<T>(server: Server, work: () => Promise<T>, withinMs: number = ONE_SECOND_MS): Promise<T> {
  const processorMsBefore = server.processorMs();
  const result = await work();
  expect(server.processorMs() - processorMsBefore).toBeLessThan(withinMs);
  return result;
}

async function expectAlive(server: Server): Promise<void> {
  const startedAt = performance.now();
  await expectQuick(server, async () => {
    const client = await server.as("survivor");
    expect((await client.get("/v1/instances")).status).toBe(200);
    expect((await server.request("GET", "/readyz")).status).toBe(200);
  });
  // Longer than on a busy machine, but shorter than a wait for the time limit of another request.
  expect(performance.now() - startedAt).toBeLessThan(10 * ONE_SECOND_MS);
}

describeEach([ON_NODE, ...ON_OTHER_RUNTIMES], (target) => {
  const server = useServer(target);
  // Created before any measurement.
  const clientOfAda = async () => {
    await server.as("survivor");
    return server.as("ada");
  };
  afterEach(() => expectAlive(server));

  describe("a body of 1 GB", () => {
    test.for(["with its length", "in chunks without one"] as const)(
      "a body %s is refused early and takes no memory",
      async (variant) => {
        const client = await clientOfAda();
        const total = 1024 * MEGABYTE;
        const memoryBefore = server.peakMemory();
        let sentBytes = 0;
        async function* countedBody() {
          sentBytes = 0;
          for await (const piece of bytesOf(total, Buffer.alloc(256 * 1024, " "))) {
            sentBytes += piece.length;
            yield piece;
          }
        }
        const headers = variant === "with its length" ? { "content-length": String(total) } : {};
        const response = await expectQuick(
          server,
          () => client.send("POST", "/v1/calls", { headers, body: countedBody }),
          5_000,
        );
        expectProblem(response, 413, "body_too_large");
        expect(sentBytes).toBeLessThan(100 * MEGABYTE);
        expect(server.peakMemory() - memoryBefore).toBeLessThan(200 * MEGABYTE);
      },
    );

    test("a body sent to a path that takes none is not read", async () => {
      const client = await clientOfAda();
      const memoryBefore = server.peakMemory();
      for (const [method, path] of [
        ["POST", "/v1/nothing"],
        ["DELETE", `/v1/calls/${MISSING_IDS.call}`],
        ["POST", "/simulator/link/x"],
      ] as const) {
        const response = await client
          .send(method, path, { headers: { "transfer-encoding": "chunked" }, body: () => bytesOf(64 * MEGABYTE) })
          .catch((error: Error) => error);
        if (!(response instanceof Error)) expect([404, 405, 413]).toContain(response.status);
      }
      expect(server.peakMemory() - memoryBefore).toBeLessThan(200 * MEGABYTE);
    });

    test("a body without a token is refused unread", async () => {
      const memoryBefore = server.peakMemory();
      const response = await server.client().send("POST", "/v1/calls", { body: () => bytesOf(1024 * MEGABYTE) });
      expectProblem(response, 401, "unauthorized");
      expect(server.peakMemory() - memoryBefore).toBeLessThan(200 * MEGABYTE);
    });
  });

  describe("malformed HTTP on a bare socket", () => {
    const TOKEN = async () => `Authorization: Bearer ${(await clientOfAda()).token}\r\n`;

    test.for([
      ["no HTTP at all", "hello\r\n\r\n"],
      ["TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
      ["NULs", "\0".repeat(1000)],
      ["an endless request line", `GET /${"a".repeat(200_000)}`],
      ["an endless header", `GET / HTTP/1.1\r\nHost: localhost\r\nX-A: ${"b".repeat(200_000)}`],
      ["100,000 headers", `GET / HTTP/1.1\r\nHost: localhost\r\n${"X-A: b\r\n".repeat(100_000)}\r\n`],
      ["a negative length", "POST /v1/calls HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n{}"],
      ["two lengths", "POST /v1/calls HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 7\r\n\r\n{}"],
      [
        "a chunk of a size beyond all bounds",
        "POST /v1/calls HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
      ],
      [
        "an invalid chunk size",
        "POST /v1/calls HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
      ],
      ["HTTP/3.7", "GET / HTTP/3.7\r\nHost: localhost\r\n\r\n"],
    ] as const)("%s: the connection ends or gets a 4xx; the server continues", async ([, bytes]) => {
      await clientOfAda();
      const { text, closed } = await sendRaw(server.base, Buffer.from(bytes, "latin1"), {
        until: /^HTTP\/1\.[01] \d{3}/,
        waitMs: 500,
      });
      const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1]);
      // Requests that are unfinished but not yet invalid may wait.
      expect(closed || text === "" || (status >= 400 && status < 600)).toBe(true);
      expect(text).not.toMatch(/HTTP\/1\.1 (2\d\d|500)/);
    });

    test("a smuggled second request gets no response", async () => {
      const smuggledHead = "GET /v1/instances HTTP/1.1\r\nHost: localhost\r\n";
      const body = `0\r\n\r\n${smuggledHead}${await TOKEN()}\r\n`;
      const head = `POST /v1/instances HTTP/1.1\r\nHost: localhost\r\n${await TOKEN()}Content-Length: ${body.length}\r\nTransfer-Encoding: chunked\r\n\r\n`;
      const { text } = await sendRaw(server.base, head + body, { waitMs: 500 });
      expect(text.match(/HTTP\/1\.1 200/g)).toBeNull();
    });

    test("200 endless requests delay no other request", async () => {
      const head = `POST /v1/calls HTTP/1.1\r\nHost: localhost\r\n${await TOKEN()}Content-Length: 1000\r\n\r\n{"instanceId":`;
      const slowRequests = Array.from({ length: 200 }, (_, i) =>
        sendRaw(server.base, i % 2 ? head : head.slice(0, 40), { waitMs: 1_500 }),
      );
      await expectAlive(server);
      for (const { text } of await Promise.all(slowRequests)) expect(text).not.toMatch(/HTTP\/1\.1 (2|5)/);
    });

    test("a truncated body has no effect", async () => {
      const client = await clientOfAda();
      const countsBefore = countRows(await server.rows());
      const head = `POST /v1/instances HTTP/1.1\r\nHost: localhost\r\n${await TOKEN()}Content-Length: 1000\r\n\r\n{"name":"x"}`;
      await sendRaw(server.base, head, { waitMs: 100 });
      expect((await client.get("/v1/instances")).status).toBe(200);
      expect(countRows(await server.rows())).toEqual(countsBefore);
    });

    test("a forged Host does not appear in URLs", async () => {
      const client = await clientOfAda();
      const { id } = await client.createInstance();
      const path = `/v1/instances/${id}/configure`;
      const { text } = await sendRaw(server.base, `GET ${path} HTTP/1.1\r\nHost: evil.example\r\n\r\n`);
      expect(text).toMatch(/^HTTP\/1.1 421 [\s\S]*"code":"host_not_allowed"/);
      const forgedAnswer = await client.get(path, { host: "evil.localhost", "x-forwarded-host": "evil.example" });
      expect(expected(200, forgedAnswer).text).not.toContain("evil");
      expect(await client.linkUrl(id)).toMatch(new RegExp(`^${server.base}/`));
    });
  });
});
