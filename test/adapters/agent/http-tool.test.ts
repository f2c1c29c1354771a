import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { httpTool } from "../../../adapters/agent/tools/http-tool.ts";
import { HostLookup } from "../../../adapters/untrusted-hosts/host-lookup.ts";
import { offeredTools } from "../../../src/application/call-audio/agents/offered-tools.ts";
import { guardedTools } from "../../../src/application/port-guards/guarded-agent.ts";
import type { HttpToolOptions } from "../../../src/options.ts";
import { realSystem } from "../../../src/ports/system.ts";

const SECRET = "tk-9f8e7d6c5b4a";
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Starts a server on this machine, and records the requests it receives. */
async function startServer(respond: (response: ServerResponse, request: IncomingMessage) => void) {
  const receivedRequests: { method: string; url: string; authorization: string | undefined; body: string }[] = [];
  const httpServer = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const { method = "", url = "", headers } = request;
    receivedRequests.push({ method, url, authorization: headers.authorization, body });
    respond(response, request);
  });
  await new Promise<void>((resolve) => httpServer.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    httpServer.closeAllConnections();
    httpServer.close();
  });
  return { receivedRequests, origin: `http://127.0.0.1:${(httpServer.address() as AddressInfo).port}` };
}

/** Runs a tool as an agent does. */
async function run(overrides: Partial<HttpToolOptions>, input: object, allowPrivate = true) {
  const logArguments: unknown[] = [];
  const log = (...args: unknown[]) => void logArguments.push(...args);
  const options: HttpToolOptions = {
    name: "order",
    description: "Finds an order.",
    parameters: { type: "object" },
    url: "https://api.example.com/",
    headers: { authorization: `Bearer ${SECRET}` },
    ...overrides,
  };
  const parts = { system: realSystem, log: { debug: log, info: log, warn: log, error: log } };
  const unguardedTool = httpTool(options, { allowPrivate, hosts: new HostLookup() });
  const context = { ...parts, agentTools: guardedTools([unguardedTool], parts) };
  const call = { id: "call_1", message: { type: "DYNAMIC_AGENT" as const, instructions: [] } };
  const [tool] = offeredTools(context, call, new AbortController().signal, () => {});
  const text = await tool!.run(JSON.stringify(input));
  const records = logArguments
    .map((arg) =>
      Object.values(arg as object)
        .map(String)
        .join(" "),
    )
    .join("\n");
  expect(text + records).not.toContain(SECRET);
  return { text, records };
}

const json = (status: number, value: unknown) => (response: ServerResponse) =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));

describe("an HTTP tool", () => {
  test("fills path and query, sends the rest in the query, and returns the JSON", async () => {
    const { receivedRequests, origin } = await startServer(json(200, { state: "shipped" }));
    const url = `${origin}/shops/{shop}/orders/{id}?lang={lang}&full=1`;
    const input = { id: "a/b c?#", shop: "Köln", lang: "pt&x=1", limit: 3, tags: ["a", "b"], none: null };
    expect((await run({ url }, input)).text).toBe('{"state":"shipped"}');
    const path = "/shops/K%C3%B6ln/orders/a%2Fb%20c%3F%23?lang=pt%26x%3D1&full=1&limit=3&tags=a&tags=b";
    expect(receivedRequests).toEqual([{ method: "GET", url: path, authorization: `Bearer ${SECRET}`, body: "" }]);
  });

  test("sends arguments as JSON if the method is not GET", async () => {
    const { receivedRequests, origin } = await startServer(json(201, { id: 7 }));
    const input = { id: "x", people: 2, note: "é 👋" };
    expect((await run({ url: `${origin}/tables/{id}`, method: "POST" }, input)).text).toBe('{"id":7}');
    expect(receivedRequests[0]).toMatchObject({ method: "POST", url: "/tables/x", body: '{"people":2,"note":"é 👋"}' });
  });

  test.for([
    [{ id: ".." }, "error: no part of the path may be . or .."],
    [{ id: "../admin" }, "error: no part of the path may be . or .."],
    [{ id: "x\\.." }, "error: no part of the path may be . or .."],
    [{ id: "" }, "error: id must not be empty"],
    [{}, "error: id is missing"],
    [{ id: ["a"] }, "error: id must be a string, a number or a boolean"],
  ] as const)("sends no request for an invalid argument: %j", async ([input, text]) => {
    const { receivedRequests, origin } = await startServer(json(200, {}));
    expect((await run({ url: `${origin}/orders/{id}/lines` }, input)).text).toBe(text);
    expect(receivedRequests).toEqual([]);
  });

  test.for([
    [404, { error: "no such order" }, "error: the server responded with 404: no such order"],
    [500, "x".repeat(5_000), `error: the server responded with 500: ${"x".repeat(200)}…`],
    [401, `wrong key ${SECRET}`, "error: the server responded with 401: wrong key [hidden]"],
    [204, undefined, "null"],
    [200, "plain words", '"plain words"'],
    [200, { echo: { authorization: `Bearer ${SECRET}` } }, '{"echo":{"authorization":"[hidden]"}}'],
  ] as const)("explains status %i to the model", async ([status, body, text]) => {
    const payload = typeof body === "string" ? body : body && JSON.stringify(body);
    const { origin } = await startServer((response) => void response.writeHead(status).end(payload));
    expect((await run({ url: origin }, {})).text).toBe(text);
  });

  test("does not follow a redirect", async () => {
    const { receivedRequests, origin } = await startServer(
      (response) => void response.writeHead(302, { location: "/else" }).end(),
    );
    const text = "error: the server responded with 302, a redirect, which is not followed";
    expect((await run({ url: origin }, {})).text).toBe(text);
    expect(receivedRequests).toHaveLength(1);
  });

  test.for([
    [200, "error: the response has more than 16384 bytes, which is the limit"],
    [500, `error: the server responded with 500: ${"y".repeat(200)}…`],
  ] as const)("reads only the beginning of a 10 MB response with status %i", async ([status, text]) => {
    let sentBytes = 0;
    const { origin } = await startServer((response) => {
      response.writeHead(status);
      const writeMore = (): void => {
        while (sentBytes < 10_000_000 && !response.destroyed) {
          sentBytes += 100_000;
          if (!response.write("y".repeat(100_000))) return void response.once("drain", writeMore);
        }
        response.end();
      };
      writeMore();
    });
    expect((await run({ url: origin }, {})).text).toBe(text);
    expect(sentBytes).toBeLessThan(10_000_000);
  });

  test("closes its connection after its timeout", async () => {
    let whenClosed: Promise<unknown> | undefined;
    const { origin } = await startServer((response) => {
      whenClosed = new Promise((resolve) => response.on("close", () => resolve(undefined)));
      response.writeHead(200).write("{");
    });
    expect((await run({ url: origin, timeoutMs: 100 }, {})).text).toBe("error: no result within 100 ms");
    await whenClosed;
  });

  test("hides the cause of a broken connection from the model, and logs it", async () => {
    const { origin } = await startServer((response) => {
      response.writeHead(200, { "content-length": "100" }).write("half");
      setImmediate(() => response.destroy());
    });
    const { text, records } = await run({ url: origin }, {});
    expect(text).toBe("error: the tool failed");
    expect(records).toMatch(/the server of the tool order failed: (aborted|the response ended|socket|.*closed)/i);
  });

  test.each(["https://127.0.0.1", "https://[::1]", "https://169.254.169.254", "https://localhost", "http://8.8.8.8"])(
    "does not connect to %s",
    async (url) => {
      const { text, records } = await run({ url: `${url}/latest` }, {}, false);
      expect(text).toBe("error: the tool failed");
      expect(records).toMatch(/has no public address|the URL is not https/);
    },
  );
});
