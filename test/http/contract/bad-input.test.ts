import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CODE_POINT, fuzz } from "../../support/fuzz.ts";
import { useLocalServer } from "../../support/local-server.ts";
import { processorMs } from "../../support/processor-time.ts";
import { expectProblem, MISSING_IDS, pointersOf } from "../../support/response-shapes.ts";
import { type Client, expected, type InstanceView, LISTENER } from "../../support/server-client.ts";
import { countRows } from "../../support/server-database.ts";
import type { HttpResponse } from "../../support/server-http.ts";
import { toneWav } from "../../support/server-sound.ts";

/** Maximum time for a request: longer work would let a client stall the server. */
const ONE_SECOND_MS = 1_000;

/** Asserts that the response took little work. */
async function expectQuick<T>(work: () => Promise<T>, withinMs: number = ONE_SECOND_MS): Promise<T> {
  const startedAt = processorMs();
  const result = await work();
  expect(processorMs() - startedAt).toBeLessThan(withinMs);
  return result;
}

const nestedObject = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
const audio = (bytes: Uint8Array) => ({
  type: "FIXED_AUDIO",
  audio: { audioBase64: Buffer.from(bytes).toString("base64") },
});

const server = useLocalServer();
const clientOfAda = () => server.as("ada");

describe("text", () => {
  test("a word of 4096 letters is accepted, and one of 5,000 is refused", async () => {
    const client = await clientOfAda();
    const { id } = await client.createInstance();
    const callWith = (text: string) => client.postCall(id, { tts: { text, voiceId: "en-US-1" } });
    expect(
      pointersOf(expectProblem(await expectQuick(() => callWith("a".repeat(5000))), 400, "invalid_request")),
    ).toEqual(["/tts/text"]);
    expect((await expectQuick(() => callWith("a".repeat(4096)))).status).toBe(201);
  });

  test.for([
    ["NUL", "Hello\u0000 there"],
    ["emoji", "Party 🎉🦜 tonight 👨‍👩‍👧‍👦"],
    ["a lone surrogate", "broken \ud83d end"],
    ["marks that turn the direction", "\u202eevil\u202c \u2066x\u2069"],
    ["markup", "<b>hello</b> &amp; 1 < 2 > 0 [[pause]] \\x1b[31m"],
    ["every control character", `${String.fromCharCode(...Array.from({ length: 32 }, (_, i) => i))} a`],
  ] as const)("text with %s is stored and returned unchanged", async ([, text]) => {
    const client = await clientOfAda();
    const { id } = await client.createInstance("x", { text });
    expect((await client.instance(id)).metadata).toEqual({ text });
    const call = await expectQuick(() => client.call(id, { tts: { text, voiceId: "en-US-1" } }));
    expect((await client.readCall(call.id)).status).toBe("QUEUED");
  });

  test("NUL in a name is refused or stored, never truncated", async () => {
    const client = await clientOfAda();
    const response = await client.post("/v1/instances", { name: "a\u0000b" });
    if (response.status === 400) expectProblem(response, 400, response.json().code as string);
    else expect(expected(201, response).json<InstanceView>().name).toBe("a\u0000b");
  });
});

describe("JSON", () => {
  test.for([100, 100_000])("JSON of %i levels is refused within a second", async (levels) => {
    const client = await clientOfAda();
    const before = countRows(await server.rows());
    for (const body of [nestedObject(levels), "[".repeat(levels), `{"name":"x","metadata":${nestedObject(levels)}}`]) {
      const call = await expectQuick(() => client.send("POST", "/v1/calls", { body }));
      expectProblem(call, 400, call.json().code as string);
      const instance = await expectQuick(() => client.send("POST", "/v1/instances", { body }));
      expect(body.length > 16_384 ? [400, 413] : [400]).toContain(instance.status);
    }
    expect(countRows(await server.rows())).toEqual(before);
  });

  test.for([
    ["__proto__", '{"name":"x","metadata":{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":1}}}}'],
    ["a key twice", '{"name":"first","name":"second"}'],
    ["a number beyond all bounds", '{"name":"x","metadata":{"n":1e999,"m":-0}}'],
  ] as const)("JSON with %s does no harm", async ([, body]) => {
    const client = await clientOfAda();
    const { id } = expected(201, await client.send("POST", "/v1/instances", { body })).json<InstanceView>();
    const { metadata } = await client.instance(id);
    expect((metadata as { admin?: unknown }).admin).toBeUndefined();
    expect((await client.createInstance()).metadata).toEqual({});
  });

  test("a million faults are reported within a second", async () => {
    const client = await clientOfAda();
    const { id } = await client.createInstance();
    const instructions = Array(1_000_000).fill(0);
    const response = await expectQuick(
      () => client.postCall(id, { type: "DYNAMIC_AGENT", agent: { instructions } }),
      3_000,
    );
    expect(expectProblem(response, 400, response.json().code as string).errors!.length).toBeLessThan(10_000);
  });
});

describe("audio", () => {
  test.for<[what: string, file: () => Uint8Array, statuses: number[]]>([
    ["random bytes", () => randomBytes(50_000, 1), [400]],
    [
      "random bytes after an MP3's first bytes",
      () => Buffer.concat([Buffer.from("ID3\u0004\0\0\0\0\0\0", "latin1"), randomBytes(50_000, 2)]),
      [400],
    ],
    [
      "random bytes after an MPEG header",
      () => Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x64]), randomBytes(50_000, 3)]),
      [400],
    ],
    ["an ID3 tag that claims 256 MB", () => Buffer.from("ID3\u0004\0\0\x7f\x7f\x7f\x7f", "latin1"), [400]],
    ["a WAV without samples", () => toneWav({ ms: 0 }), [400]],
    ["a WAV cut within its header", () => toneWav().subarray(0, 30), [400]],
    ["a WAV that claims 4 GB of sound", () => toneWav({ ms: 300, claimedBytes: 0xffffffff }), [201]],
    ["a WAV that claims less than it holds", () => toneWav({ ms: 300, claimedBytes: 1600 }), [201]],
    ["a WAV at 0 Hz", () => withUint32(toneWav(), 24, 0), [400]],
    ["a WAV of 0 channels", () => withUint16(toneWav(), 22, 0), [400]],
    ["a WAV of 65,535 channels", () => withUint16(toneWav(), 22, 65_535), [400]],
    ["a WAV of 3-bit samples", () => withUint16(toneWav(), 34, 3), [400]],
    ["a WAV in an unknown coding", () => withUint16(toneWav(), 20, 0x1234), [400]],
    ["a WAV whose format chunk claims 2 GB", () => withUint32(toneWav(), 16, 0x7fffffff), [400]],
    ["a WAV of 11 minutes", () => toneWav({ ms: 11 * 60_000, sampleRate: 4000, hz: 200 }), [400]],
  ])("an audio file of %s is accepted or refused by its content", async ([, file, statuses]) => {
    const client = await clientOfAda();
    const { id } = await client.createInstance();
    const before = await server.rows();
    const response = await expectQuick(() => client.postCall(id, audio(file())), 5_000);
    expect(statuses).toContain(response.status);
    if (response.status !== 400) return;
    expect(pointersOf(expectProblem(response, 400, "audio_unsupported"))).toEqual(["/audio/audioBase64"]);
    expect(await server.rows()).toEqual(before);
  });

  test("audio above 10 MiB after decoding is refused", async () => {
    const client = await clientOfAda();
    const { id } = await client.createInstance();
    const file = toneWav({ ms: 330_000 }); // 10.07 MiB
    expectProblem(await client.postCall(id, audio(file)), 400, "audio_unsupported");
  });
});

describe("injection", () => {
  const INJECTIONS = [
    "'; drop table calls; --",
    '" or ""="',
    "1; select pg_sleep(5)",
    "%27%20or%201=1",
    "../../../etc/passwd",
  ];

  test("SQL is text like any other", async () => {
    const client = await clientOfAda();
    const before = countRows(await server.rows());
    for (const text of INJECTIONS) {
      expectProblem(await expectQuick(() => client.postCall(text)), 404, "instance_not_found");
      for (const path of ["/v1/calls/", "/v1/instances/"])
        expect((await expectQuick(() => client.get(path + encodeURIComponent(text)))).status).toBe(404);
      for (const name of ["instance_id", "status", "type", "cursor", "limit", "created_after", "expand"])
        expect((await expectQuick(() => client.get(`/v1/calls?${name}=${encodeURIComponent(text)}`))).status).toBe(400);
      expect((await client.get("/v1/calls", { authorization: `Bearer ${text}` })).status).toBe(401);
    }
    expect(countRows(await server.rows())).toEqual(before);
    const { id } = await client.createInstance(INJECTIONS[0]);
    expect((await client.instance(id)).name).toBe(INJECTIONS[0]);
    expect((await server.rows()).calls).toBeDefined();
  });

  test("header lines cannot be injected into a response", async () => {
    const client = await clientOfAda();
    const injection = "a%0d%0aSet-Cookie:%20evil=1";
    for (const path of [
      `/v1/calls/${injection}`,
      `/v1/instances?cursor=${injection}`,
      `/v1/${injection}`,
      `/simulator/link/${injection}`,
    ]) {
      const response = await client.get(path);
      expect(response.headers["set-cookie"]).toBeUndefined();
      expect([400, 404]).toContain(response.status);
    }
  });

  test("a script cannot be injected into a page", async () => {
    const response = await server.request("GET", "/simulator/link/%3Cscript%3Ealert(1)%3C/script%3E");
    expect(response.status).toBe(404);
    expect(response.text).not.toMatch(/<script/i);
  });
});
fuzz(
  "any request with faults is refused with a problem and changes no row",
  fc.asyncProperty(faultyRequest(MISSING_IDS.instance), async ({ method, path, headers, body }) => {
    const client = await clientOfAda();
    const before = countRows(await server.rows());
    const response = await sendWithTimeout(client, method, path, headers, body);
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.status).toBeLessThan(500);
    expect(response.headers["content-type"]).toBe("application/problem+json");
    expect(countRows(await server.rows())).toEqual(before);
  }),
);

interface FaultyRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

/** Requests that are invalid in various ways. */
function faultyRequest(instanceId: string): fc.Arbitrary<FaultyRequest> {
  const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
  const json = fc.jsonValue({ maxDepth: 6 });
  // The right structure with random values; the number is always wrong.
  const outline = fc
    .record(
      {
        instanceId: fc.oneof(fc.constant(instanceId), json),
        type: fc.oneof(fc.constantFrom("FIXED_TTS", "FIXED_AUDIO", "DYNAMIC_STREAM", "DYNAMIC_AGENT"), json),
        tts: fc.oneof(json, fc.record({ text: json, voiceId: json })),
        audio: fc.oneof(json, fc.record({ audioBase64: fc.oneof(json, fc.base64String({ maxLength: 300 })) })),
        agent: fc.oneof(json, fc.record({ instructions: json })),
      },
      { requiredKeys: [] },
    )
    .map((call) => ({ ...call, target: { phoneNumber: "+0" } }));
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 2_000 }),
    fc.string({ unit: CODE_POINT, maxLength: 500 }).map(utf8),
    outline.map((value) => utf8(JSON.stringify(value))),
  );
  const wrongCall = body.map((bytes) => ({ method: "POST", path: "/v1/calls", headers: {}, body: bytes }));
  const wrongInstance = fc
    .oneof(
      fc.uint8Array({ maxLength: 500 }),
      json.map((value) => utf8(JSON.stringify({ metadata: value, name: 5 }))),
    )
    .map((bytes) => ({ method: "POST", path: "/v1/instances", headers: {}, body: bytes }));
  const segment = fc
    .string({ unit: CODE_POINT, minLength: 1, maxLength: 40 })
    .map((text) => encodeURIComponent(wellFormed(text)));
  const wrongPath = fc
    .record({
      method: fc.constantFrom("GET", "DELETE", "PUT"),
      path: fc.tuple(fc.constantFrom("/v1/calls/", "/v1/instances/", "/v1/x"), segment).map((parts) => parts.join("")),
    })
    .map((request) => ({ ...request, headers: {}, body: new Uint8Array() }));
  const wrongQuery = fc
    .tuple(fc.constantFrom("limit", "cursor", "status", "instance_id", "created_after"), segment)
    .map(([name, value]) => ({
      method: "GET",
      path: `/v1/calls?${name}=${value}%00`,
      headers: {},
      body: new Uint8Array(),
    }));
  const wrongHeader = fc
    .tuple(
      fc.constantFrom("content-type", "idempotency-key", "authorization"),
      fc.string({ unit: "grapheme-ascii", minLength: 1 }),
    )
    .map(([name, value]) => ({
      method: "POST",
      path: "/v1/calls",
      headers: { [name]: value },
      body: utf8(JSON.stringify({ instanceId, type: "DYNAMIC_STREAM", target: { phoneNumber: LISTENER.slice(1) } })),
    }));
  return fc.oneof(wrongCall, wrongInstance, wrongPath, wrongQuery, wrongHeader);
}

/** Text without unpaired surrogates, which no URL can carry. */
const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, "?");

/** Sends a request; its timeout is 2 s. */
function sendWithTimeout(
  client: Client,
  method: string,
  path: string,
  headers: Record<string, string>,
  body: Uint8Array,
): Promise<HttpResponse> {
  return client.send(method, path, { headers, body: body.length ? body : undefined, timeoutMs: 2_000 });
}

function withUint32(file: Buffer, offset: number, value: number): Buffer {
  file.writeUInt32LE(value, offset);
  return file;
}

function withUint16(file: Buffer, offset: number, value: number): Buffer {
  file.writeUInt16LE(value, offset);
  return file;
}

/** Random bytes that are the same in every run. */
function randomBytes(count: number, seed: number): Buffer {
  const bytes = Buffer.alloc(count);
  let state = seed * 0x9e3779b9;
  for (let i = 0; i < count; i++) {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5;
    bytes[i] = (state >>> 13) & 255;
  }
  return bytes;
}
