import { describe, expect, test } from "vitest";
import { ON_EVERYTHING, onEach, useServer } from "../support/server.ts";
import { type EventView, expected } from "../support/server-client.ts";
import { expectProblem, KEYS, keysOf, NOBODYS, sorted } from "./shapes.ts";

/** Every address and the methods it answers. */
const ALLOWED = {
  "/v1/calls": ["GET", "HEAD", "POST", "OPTIONS"],
  "/v1/calls/{callId}": ["GET", "HEAD", "DELETE", "OPTIONS"],
  "/v1/calls/{callId}/events": ["GET", "HEAD", "OPTIONS"],
  "/v1/calls/{callId}/stream": ["GET", "HEAD", "OPTIONS"],
  "/v1/instances": ["GET", "HEAD", "POST", "OPTIONS"],
  "/v1/instances/{instanceId}": ["GET", "HEAD", "PATCH", "DELETE", "OPTIONS"],
  "/v1/instances/{instanceId}/configure": ["GET", "HEAD", "OPTIONS"],
  "/v1/events": ["GET", "HEAD", "OPTIONS"],
  "/v1/voices": ["GET", "HEAD", "OPTIONS"],
  "/v1/voices/{voiceId}/sample.wav": ["GET", "HEAD", "OPTIONS"],
  "/healthz": ["GET", "HEAD", "OPTIONS"],
  "/readyz": ["GET", "HEAD", "OPTIONS"],
  "/metrics": ["GET", "HEAD", "OPTIONS"],
  "/openapi.json": ["GET", "HEAD", "OPTIONS"],
} as const;

const pathOf = (template: string): string =>
  template.replace("{callId}", NOBODYS.call).replace("{instanceId}", NOBODYS.instance).replace("{voiceId}", "en-US-1");

onEach(ON_EVERYTHING, (target) => {
  const server = useServer(target);

  describe("methods", () => {
    for (const [template, methods] of Object.entries(ALLOWED))
      test(`${template} tells its methods, and answers 405 with them to any other`, async () => {
        const client = await server.as("ada");
        const path = pathOf(template);
        const options = await client.send("OPTIONS", path);
        expect({ status: options.status, body: options.text }).toEqual({ status: 204, body: "" });
        const told = (allow: string | undefined) => sorted((allow ?? "").split(/, */));
        expect(told(options.headers.allow)).toEqual(sorted(methods));
        for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
          if ((methods as readonly string[]).includes(method)) continue;
          const answer = await client.send(method, path);
          expectProblem(answer, 405, "method_not_allowed", path);
          expect(told(answer.headers.allow)).toEqual(sorted(methods));
        }
      });

    test("HEAD answers as GET does, without the body", async () => {
      const client = await server.as("ada");
      const { id } = await client.createInstance();
      const { id: call } = await client.call(id);
      for (const path of [
        "/v1/instances",
        `/v1/instances/${id}`,
        `/v1/calls/${call}`,
        "/v1/voices/en-US-1/sample.wav",
        "/openapi.json",
        "/healthz",
        "/docs",
      ]) {
        const [get, head] = [await client.get(path), await client.send("HEAD", path)];
        expect({ path, status: head.status, body: head.text }).toEqual({ path, status: 200, body: "" });
        for (const name of ["content-type", "etag", "cache-control"])
          expect({ path, name, value: head.headers[name] }).toEqual({ path, name, value: get.headers[name] });
      }
      const path = `/v1/calls/${NOBODYS.call}`;
      const absent = await client.send("HEAD", path);
      expect({ status: absent.status, body: absent.text }).toEqual({ status: 404, body: "" });
    });

    test.for([
      "/v1",
      "/v1/",
      "/v1/calls/",
      "/v2/calls",
      "/V1/calls",
      "/v1/calls/a/b/c",
      "/simulator",
      "/%ff",
      "//v1/calls",
    ])("GET %s answers the router's 404 in the same shape", async (path) => {
      expectProblem(await (await server.as("ada")).get(path), 404, "not_found", path);
    });
  });

  describe("ETag", () => {
    test("a read answers 304 to whoever has it, and 200 once it changed", async () => {
      const client = await server.as("ada");
      const { id } = await client.createInstance();
      const { id: call } = await client.call(id);
      for (const path of [`/v1/calls/${call}`, `/v1/instances/${id}`]) {
        const first = expected(200, await client.get(path));
        const etag = first.headers.etag ?? "";
        expect(etag).toMatch(/^(W\/)?"[^"]+"$/);
        expect(first.headers["cache-control"]).toBe("private, no-cache");
        for (const given of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
          const again = await client.get(path, { "if-none-match": given });
          expect({ given, status: again.status, body: again.text }).toEqual({ given, status: 304, body: "" });
          expect(again.headers.etag).toBe(etag);
        }
        expect((await client.get(path, { "if-none-match": '"other"' })).status).toBe(200);
      }
      const [before, queueBefore] = [await client.get(`/v1/calls/${call}`), await client.get(`/v1/instances/${id}`)];
      expect((await client.delete(`/v1/calls/${call}`)).status).toBe(204);
      for (const [path, { headers }] of [
        [`/v1/calls/${call}`, before],
        [`/v1/instances/${id}`, queueBefore],
      ] as const) {
        const changed = expected(200, await client.get(path, { "if-none-match": headers.etag! }));
        expect(changed.headers.etag).not.toBe(headers.etag);
      }
    });
  });

  describe("problem documents", () => {
    test("lead with their type to a page that explains the code", async () => {
      const problem = expectProblem(await server.client().get("/v1/calls"), 401, "unauthorized");
      const [page, anchor] = problem.type.split("#");
      expect(anchor).toBe("unauthorized");
      const explained = expected(200, await server.ask("GET", new URL(page!, `${server.base}/`).pathname));
      expect(explained.text).toContain('id="unauthorized"');
    });
  });

  describe("X-Request-Id", () => {
    test("comes with every answer and is its own each time", async () => {
      const client = await server.as("ada");
      const answers = await Promise.all(
        ["/v1/calls", "/v1/nothing", "/healthz", "/openapi.json", "/docs"].map((path) => client.get(path)),
      );
      const ids = answers.map((answer) => answer.headers["x-request-id"]);
      for (const id of ids) expect(id).toMatch(/^[!-~]{8,}$/);
      expect(new Set(ids).size).toBe(ids.length);
    });

    test("is the client's own where he sends one that can be one", async () => {
      const client = await server.as("ada");
      const own = await client.get("/v1/nothing", { "x-request-id": "mine-1" });
      expect(own.headers["x-request-id"]).toBe("mine-1");
      expect(own.json().request_id).toBe("mine-1");
      for (const bad of ["", "two words", "x".repeat(129), "\xe9"]) {
        const answer = await client.get("/v1/nothing", { "x-request-id": bad });
        expect(answer.headers["x-request-id"]).toMatch(/^[!-~]{8,128}$/);
        expect(answer.headers["x-request-id"]).not.toBe(bad);
      }
    });
  });

  describe("CORS", () => {
    test("is off unless it is switched on", async () => {
      const headers = { origin: "https://console.example", "access-control-request-method": "POST" };
      const preflight = await server.ask("OPTIONS", "/v1/calls", headers);
      expect(preflight.status).toBe(401);
      for (const answer of [preflight, await server.ask("GET", "/healthz", headers)])
        expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
    });
  });

  describe("headers", () => {
    test("none comes twice, and records are not cached by anybody else", async () => {
      const client = await server.as("ada");
      const { id } = await client.createInstance();
      for (const path of [
        "/v1/instances",
        `/v1/instances/${id}`,
        `/v1/instances/${id}/configure`,
        "/v1/nothing",
        "/docs",
      ]) {
        const answer = await client.get(path);
        const names = answer.rawHeaders.map(([name]) => name.toLowerCase());
        expect({ path, names: sorted(names) }).toEqual({ path, names: sorted([...new Set(names)]) });
        expect(answer.headers["x-content-type-options"]).toBe("nosniff");
        if (path.startsWith("/v1/")) expect(answer.headers["cache-control"]).toMatch(/no-cache|no-store/);
      }
    });
  });

  describe("the rate limit", () => {
    test("is off by default: no headers of it, and no 429", async () => {
      const client = await server.as("ada");
      const answers = await Promise.all(Array.from({ length: 100 }, () => client.get("/v1/instances?limit=1")));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      expect(Object.keys(answers[0]!.headers).filter((name) => name.startsWith("ratelimit"))).toEqual([]);
    });
  });

  describe("lists", () => {
    test("GET /v1/instances without limit answers all, with limit a page at a time", async () => {
      const client = await server.as("lister");
      const made: string[] = [];
      for (let i = 0; i < 7; i++) made.unshift((await client.createInstance(`Desk ${i}`)).id);
      const all = expected(200, await client.get("/v1/instances"));
      expect(all.json<{ id: string }[]>().map(({ id }) => id)).toEqual(made);
      expect(all.headers.link).toBeUndefined();
      const seen: string[] = [];
      for (let path: string | undefined = "/v1/instances?limit=3"; path; ) {
        const page = expected(200, await client.get(path));
        seen.push(...page.json<{ id: string }[]>().map(({ id }) => id));
        path = /^<([^>]+)>; rel="next"$/.exec(page.headers.link ?? "")?.[1];
      }
      expect(seen).toEqual(made);
    });

    test("GET /v1/events tells of calls and instances, oldest first", async () => {
      const client = await server.as("witness");
      const { id } = await client.createInstance();
      const call = await client.call(id);
      await client.delete(`/v1/calls/${call.id}`);
      const events = expected(200, await client.get("/v1/events")).json<EventView[]>();
      expect(events.map(({ type }) => type)).toEqual(["instance.created", "queued", "failed"]);
      for (const event of events) expect(keysOf(event)).toEqual(sorted(KEYS.event));
      expect(events[0]!.call_id).toBeNull();
      expect(events.slice(1)).toEqual(await client.timeline(call.id));
    });
  });

  describe("what operators and programs ask", () => {
    test("/healthz and /readyz answer 200 without a token", async () => {
      for (const path of ["/healthz", "/readyz"]) expect((await server.ask("GET", path)).status).toBe(200);
    });

    test("/metrics answers the Prometheus text format without a token", async () => {
      const answer = expected(200, await server.ask("GET", "/metrics"));
      expect(answer.headers["content-type"]).toMatch(/^text\/plain; *version=0\.0\.4/);
      const samples = answer.text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
      expect(samples.length).toBeGreaterThan(0);
      for (const line of samples) expect(line).toMatch(/^[a-z_:][a-z0-9_:]*(\{[^}]*\})? [0-9.e+-]+$/i);
    });

    test("/openapi.json is OpenAPI 3.1 and lists every address, each with its token", async () => {
      const answer = expected(200, await server.ask("GET", "/openapi.json"));
      expect(answer.headers["content-type"]).toMatch(/^application\/json/);
      const document = answer.json<NonNullable<typeof server.document>>();
      expect(document.openapi).toMatch(/^3\.1\./);
      for (const [template, methods] of Object.entries(ALLOWED)) {
        const described = Object.keys(document.paths[template] ?? {}).map((method) => method.toUpperCase());
        const wanted = methods.filter((method) => method !== "HEAD" && method !== "OPTIONS");
        expect({ template, described: sorted(described) }).toEqual({ template, described: sorted(wanted) });
        for (const operation of Object.values(document.paths[template] ?? {}))
          expect({ template, secured: (operation.security ?? []).length > 0 }).toEqual({
            template,
            secured: template.startsWith("/v1/"),
          });
      }
      const codes = (template: string, method: string) =>
        Object.keys(document.paths[template]?.[method]?.responses ?? {});
      expect(codes("/v1/calls", "post")).toEqual(
        expect.arrayContaining(["200", "201", "400", "401", "403", "404", "413", "415", "422"]),
      );
      expect(codes("/v1/calls/{callId}", "get")).toEqual(expect.arrayContaining(["200", "304", "401", "404"]));
      expect(codes("/v1/calls/{callId}", "delete")).toEqual(expect.arrayContaining(["204", "401", "404"]));
      expect(codes("/v1/calls/{callId}/stream", "get")).toEqual(expect.arrayContaining(["101", "401", "501"]));
      expect(codes("/v1/instances", "post")).toEqual(expect.arrayContaining(["201", "400", "401"]));
      expect(codes("/v1/instances/{instanceId}/configure", "get")).toEqual(
        expect.arrayContaining(["200", "401", "404", "409", "503"]),
      );
      expect(codes("/v1/instances/{instanceId}", "delete")).toEqual(expect.arrayContaining(["204", "401", "404"]));
    });

    test("/ leads to /docs", async () => {
      const { headers } = expected(302, await server.ask("GET", "/"));
      expect(headers.location).toBe("/docs");
    });

    test("/docs is a page whose every file comes from this server", async () => {
      const page = expected(200, await server.ask("GET", "/docs"));
      expect(page.headers["content-type"]).toMatch(/^text\/html/);
      expect(page.headers["content-security-policy"]).toMatch(/default-src 'none'/);
      const files = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file!);
      expect(files.length).toBeGreaterThan(2);
      for (const file of files) {
        if (file.startsWith("data:")) continue;
        expect(file).toMatch(/^\/(?!\/)/);
        expect({ file, status: (await server.ask("GET", file)).status }).toEqual({ file, status: 200 });
      }
    });
  });

  describe("GET /v1/calls/:callId/stream while the preview is off", () => {
    test("answers 501 to every call, plain or with an upgrade, and the server's first lines say how to switch it on", async () => {
      const client = await server.as("ada");
      const { id } = await client.createInstance();
      const call = await client.call(id, { type: "DYNAMIC_STREAM" });
      for (const callId of [call.id, NOBODYS.call]) {
        const path = `/v1/calls/${callId}/stream`;
        expectProblem(await client.get(path), 501, "stream_not_available", path);
        const shown = { connection: "Upgrade", upgrade: "websocket" };
        expectProblem(await client.get(path, shown), 501, "stream_not_available", path);
        expectProblem(await server.client().get(path, shown), 401, "unauthorized", path);
        const upgrade = await client.get(path, {
          connection: "Upgrade",
          upgrade: "websocket",
          "sec-websocket-version": "13",
          "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        });
        expectProblem(upgrade, 501, "stream_not_available", path);
      }
      expect(server.output).toContain("RINGPORT_STREAM_PREVIEW=1");
    });
  });
});
