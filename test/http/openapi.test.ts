import { describe, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../src/domain/limits.ts";
import { PROBLEMS } from "../../src/http/problems/problem-table.ts";
import { ask } from "./support/ask.ts";
import { documentOf } from "./support/document.ts";
import { PAGES } from "./support/endpoints.ts";
import { serve } from "./support/fakes.ts";
import { faults, KEYWORDS, resolve, type Schema } from "./support/json-schema.ts";

const document = await documentOf(serve({ http: { pages: [PAGES] } }).app);

/** Yields every object in a value, at any depth. */
function* objects(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>;
  for (const inner of Object.values(value)) yield* objects(inner);
}

test("the document has all paths and methods of the interface", () => {
  const listedOperations = Object.entries(document.paths).map(([path, item]) => `${Object.keys(item).sort()} ${path}`);
  expect(listedOperations.sort()).toEqual(
    [
      "delete,get /v1/calls/{callId}",
      "delete,get /v1/calls/{callId}/recording",
      "delete,get,patch /v1/instances/{instanceId}",
      "delete,get,patch /v1/webhooks/{webhookId}",
      "delete,get,put /v1/consents/{phone}",
      "get /v1/consents",
      "post /v1/instances/{instanceId}/pairing-code",
      "get /",
      "get /docs",
      "get /docs/assets/{name}",
      "get /docs/errors",
      "get /healthz",
      "get /link-page/{ticket}",
      "get /metrics",
      "get /openapi.json",
      "get /readyz",
      "get /simulator/calls/{callId}/{name}",
      "get /simulator/phones/{number}",
      "get /v1/calls/{callId}/events",
      "get /v1/calls/{callId}/listen",
      "get /v1/calls/{callId}/stream",
      "get /v1/events",
      "get /v1/instances/{instanceId}/configure",
      "get /v1/voices",
      "get /v1/voices/{voiceId}/sample.wav",
      "get /v1/webhooks/{webhookId}/deliveries",
      "get,post /v1/audio",
      "delete,get /v1/audio/{audioId}",
      "get,post /v1/batches",
      "delete,get /v1/batches/{batchId}",
      "get /v1/batches/{batchId}/plan",
      "get,post /v1/batches/{batchId}/targets",
      "delete,patch /v1/batches/{batchId}/targets/{position}",
      "post /v1/batches/{batchId}/start",
      "post /v1/batches/{batchId}/pause",
      "post /v1/batches/{batchId}/resume",
      "post /v1/batches/{batchId}/cancel",
      "get,post /v1/calls",
      "get,post /v1/instances",
      "get,post /v1/webhooks",
      "post /v1/calls/{callId}/stream-ticket",
      "post /v1/instances/{instanceId}/link-page",
      "post /v1/instances/{instanceId}/unlink",
      "post /v1/webhooks/{webhookId}/deliveries/{deliveryId}/replay",
      "post /v1/webhooks/{webhookId}/rotate-secret",
      "post /v1/webhooks/{webhookId}/test",
    ].sort(),
  );
});

test.each([
  ["post /v1/calls", [200, 201, 400, 401, 403, 404, 408, 409, 413, 415, 422, 429, 500, 503]],
  ["post /v1/batches", [200, 201, 400, 401, 403, 404, 408, 409, 413, 415, 422, 429, 500, 503]],
  ["post /v1/batches/{batchId}/targets", [200, 400, 401, 403, 404, 408, 409, 413, 415, 429, 500, 503]],
  ["get /v1/calls/{callId}", [200, 304, 400, 401, 403, 404, 429, 500, 503]],
  ["delete /v1/calls/{callId}", [204, 401, 403, 404, 429, 500, 503]],
  ["get /v1/calls/{callId}/stream", [101, 400, 401, 403, 404, 409, 426, 429, 500, 501, 503]],
  ["post /v1/calls/{callId}/stream-ticket", [201, 400, 401, 403, 404, 409, 429, 500, 501, 503]],
  ["get /v1/calls/{callId}/listen", [101, 401, 403, 404, 409, 426, 429, 500, 503]],
  ["post /v1/instances", [201, 400, 401, 403, 404, 408, 409, 413, 415, 422, 429, 500, 503]],
  ["get /v1/instances", [200, 400, 401, 403, 429, 500, 503]],
  ["get /v1/instances/{instanceId}", [200, 304, 400, 401, 403, 404, 429, 500, 503]],
  ["get /v1/instances/{instanceId}/configure", [200, 401, 403, 404, 409, 429, 500, 503]],
  ["get /v1/voices/{voiceId}/sample.wav", [200, 304, 401, 403, 404, 429, 500, 503]],
  ["patch /v1/instances/{instanceId}", [200, 400, 401, 403, 404, 408, 413, 415, 429, 500, 503]],
  ["post /v1/instances/{instanceId}/unlink", [200, 401, 403, 404, 409, 429, 500, 503]],
  ["delete /v1/instances/{instanceId}", [204, 401, 403, 404, 429, 500, 503]],
  ["post /v1/webhooks", [201, 400, 401, 403, 408, 409, 413, 415, 429, 500, 503]],
  ["post /v1/webhooks/{webhookId}/test", [202, 401, 403, 404, 409, 429, 500, 503]],
])("the operation %s lists its status codes", (operation, codes) => {
  const [method = "", path = ""] = operation.split(" ");
  expect(Object.keys(document.paths[path]![method]!.responses).map(Number).sort()).toEqual(codes);
});

test("the document follows the rules of OpenAPI 3.1", () => {
  const operationIds = new Set<string>();
  for (const [path, item] of Object.entries(document.paths))
    for (const operation of Object.values(item) as unknown as Record<string, unknown>[]) {
      expect(operationIds.has(String(operation.operationId))).toBe(false);
      operationIds.add(String(operation.operationId));
      const parameters = operation.parameters as { in?: string; name?: string; required?: boolean }[];
      const pathParameters = parameters.filter((parameter) => parameter.in === "path");
      expect(pathParameters.map((parameter) => `{${parameter.name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
      expect(pathParameters.every((parameter) => parameter.required === true)).toBe(true);
      const requiresBearer = path.startsWith("/v1/") || path.startsWith("/simulator/");
      const ticket = /^\/v1\/calls\/{callId}\/(stream|listen)$/.test(path) ? [{ ticket: [] }] : [];
      const scope = expect.stringMatching(/^(?:read|call|admin)$/);
      expect(operation.security).toEqual(requiresBearer ? [{ bearer: [scope] }, ...ticket] : []);
      for (const response of Object.values(operation.responses as object))
        expect(response).toHaveProperty("description");
    }
  expect(document).toMatchObject({
    openapi: "3.1.1",
    info: { title: "Ringport", version: "1.2.3" },
    servers: [{ url: "/" }, { url: "https://example.test" }],
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        ticket: { type: "apiKey", in: "query", name: "ticket" },
      },
    },
  });
});

test("every reference of the document resolves", () => {
  const refs = [...objects(document)].flatMap(({ $ref }) => (typeof $ref === "string" ? [$ref] : []));
  expect(refs.length).toBeGreaterThan(100);
  for (const ref of refs) expect(resolve(document, ref), ref).toBeDefined();
});

test("every schema has its own name", () => {
  expect(Object.keys(document.components.schemas).filter((name) => !/^[A-Z]/.test(name))).toEqual([]);
});

test("the schemas use only keywords that the tests' validator checks", () => {
  const check = (schema: Schema): void => {
    for (const key of Object.keys(schema)) expect([...KEYWORDS]).toContain(key);
    const innerSchemas = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...Object.values(schema.properties ?? {})];
    for (const innerSchema of [...innerSchemas, ...(schema.items ? [schema.items] : [])]) check(innerSchema);
  };
  for (const schema of Object.values(document.components.schemas)) check(schema);
});

describe("examples", () => {
  const media = [...objects(document)].filter(
    (object) => "schema" in object && ("example" in object || "examples" in object),
  );

  test("the document has examples for the bodies", () => {
    expect(media.length).toBeGreaterThan(20);
  });

  test.each(media.map((mediaType) => [JSON.stringify(mediaType.schema), mediaType] as const))(
    "the examples of %s fit the schema",
    (_, mediaType) => {
      const namedExamples = Object.values((mediaType.examples ?? {}) as Record<string, { value: unknown }>).map(
        ({ value }) => value,
      );
      for (const value of "example" in mediaType ? [mediaType.example] : namedExamples)
        expect(faults(document, mediaType.schema as Schema, value)).toEqual([]);
    },
  );
});

describe("requests", () => {
  const fitsSchema = (name: string, value: unknown) =>
    faults(document, document.components.schemas[name]!, value).length === 0;
  const target = { phoneNumber: "+12025550100" };

  test("request schemas state the rules that the server checks", () => {
    const { CreateInstance, CreateCall_FIXED_AUDIO, CreateCall_FIXED_TTS } = document.components.schemas;
    expect(CreateInstance?.properties?.name).toMatchObject({ minLength: 1, maxLength: DEFAULT_LIMITS.nameLength });
    expect(CreateInstance?.properties?.metadata).toMatchObject({ type: "object", additionalProperties: true });
    expect(CreateInstance?.required).toEqual(["name"]);
    expect(CreateCall_FIXED_AUDIO?.properties?.audio?.properties?.audioBase64).toMatchObject({
      type: "string",
      contentEncoding: "base64",
    });
    expect(Object.keys(CreateCall_FIXED_TTS?.properties ?? {}).sort()).toEqual([
      "expiresAfterMs",
      "from",
      "instanceId",
      "metadata",
      "onMachine",
      "onScreening",
      "recording",
      "reference",
      "sip",
      "startDelayMs",
      "startOn",
      "target",
      "tts",
      "type",
    ]);
    expect(CreateCall_FIXED_TTS?.properties?.recording).toMatchObject({ type: "boolean" });
  });

  test("a request without a field of its type is invalid", () => {
    const commonFields = { instanceId: "inst_x", target };
    expect(fitsSchema("CreateCall", { ...commonFields, type: "DYNAMIC_STREAM" })).toBe(true);
    expect(fitsSchema("CreateCall", { ...commonFields, type: "FIXED_TTS" })).toBe(false);
    expect(
      fitsSchema("CreateCall", { ...commonFields, type: "FIXED_TTS", tts: { text: "a", voiceId: "en-US-1" } }),
    ).toBe(true);
    expect(
      fitsSchema("CreateCall", { ...commonFields, type: "FIXED_TTS", tts: { text: "", voiceId: "en-US-1" } }),
    ).toBe(false);
    expect(fitsSchema("CreateCall", { ...commonFields, target: { phoneNumber: "12" }, type: "DYNAMIC_STREAM" })).toBe(
      false,
    );
    expect(fitsSchema("CreateCall", { ...commonFields, type: "OTHER" })).toBe(false);
  });

  test("a request names a caller ID as a number or as fields", () => {
    const commonFields = { instanceId: "inst_x", target, type: "DYNAMIC_STREAM" };
    for (const from of ["+12025550123", { phoneNumber: "+12025550123", displayName: "Desk", withheld: true }, {}])
      expect(fitsSchema("CreateCall", { ...commonFields, from }), JSON.stringify(from)).toBe(true);
    for (const from of ["0123", { phoneNumber: "0123" }, { displayName: "" }, { withheld: 1 }, null])
      expect(fitsSchema("CreateCall", { ...commonFields, from }), JSON.stringify(from)).toBe(false);
    expect(fitsSchema("UpdateInstance", {})).toBe(true);
    expect(fitsSchema("UpdateInstance", { name: "Desk", callerId: null })).toBe(true);
    expect(fitsSchema("UpdateInstance", { callerId: 7 })).toBe(false);
  });

  test("request schemas follow the server's limits", async () => {
    const smallDocument = await documentOf(serve({ http: { limits: { ...DEFAULT_LIMITS, nameLength: 7 } } }).app);
    expect(smallDocument.components.schemas.CreateInstance?.properties?.name).toMatchObject({ maxLength: 7 });
  });
});

test.each([
  { event: "beep", hz: 1000, at_ms: 2300 },
  { event: "transcripts_unavailable", reason: "no_engine" },
  { event: "transcripts_unavailable", reason: "engine_failed", recoverable: true },
  { event: "failed", reason: "stream_lost" },
])("the stream message %j fits its schema", (fields) => {
  const message = { type: "call_event", timestamp: "2026-11-22T06:24:13.275Z", ...fields };
  expect(faults(document, document.components.schemas.StreamCallEvent!, message)).toEqual([]);
});

test("operations list 429 without a rate limit, because demo tokens have one", () => {
  const { headers = {} } = document.paths["/v1/calls"]!.get!.responses["429"]!;
  expect(Object.keys(headers).sort()).toEqual(["RateLimit", "RateLimit-Policy", "Retry-After", "X-Request-Id"]);
});

test("the server's URL contains the base path once", async () => {
  for (const publicUrl of ["https://example.test", "https://example.test/api"]) {
    const { app } = serve({ http: { basePath: "/api", publicUrl: () => publicUrl } });
    expect((await ask(app, { path: "/api/openapi.json", token: null })).json.servers).toEqual([
      { url: "/api" },
      { url: "https://example.test/api" },
    ]);
  }
});

test("every code has a status and title", () => {
  for (const { status, title } of Object.values(PROBLEMS)) {
    expect(status).toBeGreaterThanOrEqual(400);
    expect(title).toMatch(/^[A-Z]/);
  }
});
