import * as fc from "fast-check";
import { expect } from "vitest";
import { inputSchemas, parseCreateCall, parseCreateInstance } from "../../src/domain/input/inputs.ts";
import { DEFAULT_LIMITS } from "../../src/domain/limits.ts";
import type { Reply, RequestLike } from "../../src/ports/web.ts";
import { CODE_POINT, fuzz } from "../support/fuzz.ts";
import { CALL_ID, CREATED, call, INSTANCE_ID, instance, serve, TOKEN } from "./support/fakes.ts";

const limits = { ...DEFAULT_LIMITS, bodyBytes: 4096 };
const schemas = inputSchemas(limits);
const { app } = serve({
  calls: {
    create: async (_, input) => {
      parseCreateCall(schemas, input);
      return { ...call(), ...CREATED };
    },
  },
  instances: {
    create: async (_, input) => {
      parseCreateInstance(schemas, input);
      return { ...instance(), ...CREATED };
    },
  },
  http: {
    limits,
    cors: { origins: ["https://app.example"] },
    rateLimit: { limit: 1e9, windowMs: 1000 },
    authenticate: async (token) => (token === TOKEN ? { userId: "usr_anna" } : undefined),
    pages: [
      {
        prefix: "simulator",
        page: async () => undefined,
        artefact: async () => undefined,
        phone: () => ({ message() {} }),
      },
    ],
  },
});

interface HostileRequest {
  method?: string;
  target: string;
  headers?: Record<string, string>;
  body?: Uint8Array[];
}

function send({ method = "GET", target, headers = {}, body }: HostileRequest): Promise<Reply> {
  const request: RequestLike = {
    method,
    url: `http://127.0.0.1:8080${target}`,
    headers: { get: (name) => (Object.hasOwn(headers, name) ? headers[name]! : null) },
    body: body
      ? (async function* () {
          yield* body;
        })()
      : null,
  };
  return app.handle(request);
}

/** Asserts what holds for every response. */
function checkResponse(response: Reply): void {
  expect(response.status).toBeGreaterThanOrEqual(200);
  expect(response.status).not.toBe(500);
  for (const [name, value] of Object.entries(response.headers)) {
    expect(name).toMatch(/^[a-z0-9-]+$/);
    expect(value).toMatch(/^[\t\x20-\x7e\x80-\xff]*$/);
  }
  expect(response.headers["x-request-id"]).toMatch(/^[!-~]{1,128}$/);
  if (response.status < 400) return;
  expect(response.headers["content-type"]).toBe("application/problem+json");
  if (response.body === undefined) return;
  const problem = JSON.parse(String(response.body));
  expect(problem).toMatchObject({ status: response.status, request_id: response.headers["x-request-id"] });
  expect(typeof problem.code === "string" && typeof problem.detail === "string").toBe(true);
  if (response.status === 400) expect(problem.errors.length).toBeGreaterThan(0);
}

const authorization = { authorization: `Bearer ${TOKEN}` };
const method = fc.constantFrom("GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "BREW", "__proto__");
const text = fc.string({ unit: CODE_POINT, maxLength: 30 });
const piece = fc.oneof(
  fc.constantFrom(
    "v1",
    "calls",
    "instances",
    "stream",
    "events",
    "configure",
    "simulator",
    "docs",
    "assets",
    "healthz",
  ),
  fc.constantFrom(
    "..",
    ".",
    "%2e%2e",
    "%2F",
    "%00",
    "%",
    "%c3%28",
    "\\",
    "//",
    ";",
    "*",
    "?",
    "#",
    "@",
    CALL_ID,
    INSTANCE_ID,
  ),
  text,
);
const target = fc.array(piece, { maxLength: 8 }).map((pieces) => `/${pieces.join("/")}`);

fuzz(
  "any method on any address gets a proper response",
  fc.asyncProperty(method, target, async (method, target) => {
    checkResponse(await send({ method, target, headers: authorization }));
  }),
);

fuzz(
  "no path reveals records to a client without a valid token",
  fc.asyncProperty(method, target, fc.option(text), async (method, target, token) => {
    const response = await send({
      method,
      target,
      headers: token === null ? {} : { authorization: `Bearer ${token}` },
    });
    checkResponse(response);
    const { body } = response;
    // `instance` may repeat the request, but no field may reveal the content of a record.
    if (!response.headers["content-type"]?.startsWith("text/"))
      expect(String(body)).not.toMatch(/"created_at"|"callQueue"/);
    // The path is served as sent, outside /v1.
    if (response.status < 400 && response.status !== 204) {
      const path = target.replace(/\?.*$/s, "");
      expect(path).not.toMatch(/^\/v1(\/|$)/);
      expect(new URL(`http://h${path}`).pathname).toBe(path);
    }
  }),
);

fuzz(
  "any query gets a proper response",
  fc.asyncProperty(
    fc.constantFrom(`/v1/calls/${CALL_ID}`, "/v1/calls", "/v1/instances", "/v1/events", `/v1/instances/${INSTANCE_ID}`),
    fc.array(
      fc.tuple(
        fc.constantFrom(
          "limit",
          "cursor",
          "expand",
          "status",
          "type",
          "instance_id",
          "created_after",
          "created_before",
        ),
        fc.oneof(
          text,
          fc.integer().map(String),
          fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
        ),
        fc.boolean(),
      ),
      { maxLength: 6 },
    ),
    async (path, pairs) => {
      const query = pairs.map(([name, value, isRaw]) => `${name}=${isRaw ? value : encodeURIComponent(value)}`);
      const response = await send({ target: `${path}?${query.join("&")}`, headers: authorization });
      checkResponse(response);
      expect([200, 400]).toContain(response.status);
    },
  ),
);

const headerNames = fc.constantFrom(
  "authorization",
  "x-request-id",
  "idempotency-key",
  "prefer",
  "accept",
  "origin",
  "access-control-request-method",
  "if-none-match",
  "content-type",
  "content-length",
  "content-encoding",
  "upgrade",
  "__proto__",
);

fuzz(
  "any headers get a proper response",
  fc.asyncProperty(
    method,
    fc.constantFrom("/v1/calls", `/v1/calls/${CALL_ID}`, `/v1/calls/${CALL_ID}/stream`, "/openapi.json"),
    fc.dictionary(headerNames, fc.oneof(text, fc.constantFrom("a\r\nset-cookie: x=y", "\0", "é", "Bearer \r\n")), {
      maxKeys: 6,
    }),
    fc.boolean(),
    async (method, target, headers, isAuthorized) => {
      const response = await send({
        method,
        target,
        headers: isAuthorized ? { ...headers, ...authorization } : headers,
        body: [],
      });
      checkResponse(response);
      expect(JSON.stringify(response.headers)).not.toContain("set-cookie");
    },
  ),
);

const bytes = fc.array(fc.uint8Array({ maxLength: 2000 }), { maxLength: 6 });
const encodeJson = (value: unknown): Uint8Array[] => [new TextEncoder().encode(JSON.stringify(value) ?? "")];
const similarBody = fc
  .record(
    {
      instanceId: fc.jsonValue(),
      name: fc.jsonValue(),
      metadata: fc.jsonValue(),
      type: fc.oneof(fc.constantFrom("FIXED_TTS", "FIXED_AUDIO", "DYNAMIC_STREAM", "DYNAMIC_AGENT"), fc.jsonValue()),
      target: fc.oneof(fc.record({ phoneNumber: text }), fc.jsonValue()),
      tts: fc.oneof(fc.record({ text, voiceId: text }), fc.jsonValue()),
      audio: fc.oneof(fc.record({ audioBase64: text }), fc.jsonValue()),
      agent: fc.oneof(fc.record({ instructions: fc.array(text) }), fc.jsonValue()),
    },
    { requiredKeys: [] },
  )
  .map(encodeJson);

fuzz(
  "any body gets a proper response",
  fc.asyncProperty(
    fc.constantFrom("/v1/calls", "/v1/instances"),
    fc.oneof(bytes, similarBody, fc.jsonValue().map(encodeJson)),
    async (target, body) => {
      const response = await send({ method: "POST", target, headers: authorization, body });
      checkResponse(response);
      expect([201, 400, 413]).toContain(response.status);
    },
  ),
);

fuzz(
  "a URL of any form gets a proper response",
  fc.asyncProperty(fc.oneof(text, fc.webUrl({ withQueryParameters: true, withFragments: true })), async (url) => {
    checkResponse(await app.handle({ method: "GET", url, headers: { get: () => null }, body: null }));
  }),
);
