import { describe, expect, test } from "vitest";
import type { BatchUseCases } from "../../src/application/batches/batch-use-cases.ts";
import type { Principal } from "../../src/domain/access/principal.ts";
import { Refusal, type RefusalCode } from "../../src/domain/refusal.ts";
import { createHttp } from "../../src/http/app.ts";
import { PROBLEMS } from "../../src/http/problems/problem-table.ts";
import type { WebApp } from "../../src/ports/web.ts";
import { ALICE, BOB, World } from "../support/application.ts";
import { ask, type TestRequest } from "./support/ask.ts";
import { BATCH_ID, batch, batchDetails, target } from "./support/batch-fakes.ts";
import { dependencies, serve } from "./support/fakes.ts";

const batchPath = `/v1/batches/${BATCH_ID}`;
const TARGETS = `${batchPath}/targets`;

/** Records the arguments of a use case after the principal, and responds as the fake does. */
function recordCalls<Name extends "list" | "targets">(name: Name, items: Awaited<ReturnType<BatchUseCases[Name]>>) {
  const requests: unknown[] = [];
  const run = async (_: Principal, ...args: unknown[]) => {
    requests.push(args);
    return items;
  };
  return { requests, batches: { [name]: run } as Partial<BatchUseCases> };
}

describe("POST /v1/batches", () => {
  const post = { method: "POST", path: "/v1/batches", body: { name: "Reminders" } };

  test("responds 201 with the batch, its import report and a Location", async () => {
    const { status, json, headers } = await ask(serve().app, post);
    expect(status).toBe(201);
    expect(headers.location).toBe(batchPath);
    expect(json).toMatchObject({
      id: BATCH_ID,
      status: "DRAFT",
      message: { type: "FIXED_TTS" },
      counts: { targets: 1, by_status: { WAITING: 1 }, by_reason: [] },
      report: { rows: 1, stored: { WAITING: 1 }, faults: [] },
    });
  });

  test("responds 200 with the plan of a dry run, and creates no batch", async () => {
    const create = () => Promise.reject(new Error("a batch was created"));
    const body = { ...post.body, dryRun: true };
    const { status, json } = await ask(serve({ batches: { create } }).app, { ...post, body });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      targets: { WAITING: 1 },
      starts_at: "2026-01-31T12:00:00.000Z",
      calls: [{ position: 1, phone_number: "+12025550101", at: "2026-01-31T12:00:00.000Z" }],
    });
  });

  test("passes on the idempotency key, and marks a replay", async () => {
    const options: unknown[] = [];
    const create: BatchUseCases["create"] = async (_, __, input) => {
      options.push(input);
      const report = { rows: 0, stored: {}, faults: [] };
      return { ...batchDetails(), created: true, replayed: true, report };
    };
    const headers = { "idempotency-key": '"k1"', prefer: "handling=strict" };
    const reply = await ask(serve({ batches: { create } }).app, { ...post, headers });
    expect(options).toMatchObject([{ idempotencyKey: "k1", strict: true }]);
    expect(reply.headers).toMatchObject({
      "idempotent-replayed": "true",
      "preference-applied": "handling=strict",
    });
  });

  test.each(["demo_token_restricted", "batch_quota", "batch_invalid", "instance_not_found"] satisfies RefusalCode[])(
    "the refusal %s becomes its problem document",
    async (code) => {
      const create = () => Promise.reject(new Refusal(code, "because"));
      const { status, json } = await ask(serve({ batches: { create } }).app, post);
      expect([status, json.code]).toEqual([PROBLEMS[code].status, code]);
    },
  );
});

describe("the list of batches", () => {
  test("has pages, filtered by status", async () => {
    const { batches, requests } = recordCalls("list", [batch(), batch()]);
    const reply = await ask(serve({ batches }).app, { path: "/v1/batches?status=RUNNING&limit=1" });
    expect(requests).toEqual([[{ status: "RUNNING" }, { limit: 2, after: undefined }]]);
    expect(reply.json).toMatchObject([{ id: BATCH_ID, name: "Reminders", type: "FIXED_TTS", breaker: null }]);
    expect(reply.headers.link).toMatch(/cursor=[\w-]+>; rel="next"$/);
  });

  test("refuses an unknown status", async () => {
    expect((await ask(serve().app, { path: "/v1/batches?status=OPEN" })).status).toBe(400);
  });
});

describe("a batch", () => {
  test("is read with its counts and its estimated end", async () => {
    const details = batchDetails({
      status: "RUNNING",
      schedule: { startAt: 0, hours: { from: "09:00", until: "18:00", days: [1] }, zone: "Europe/Lisbon" },
      retry: { on: ["busy"], times: 2, backoff: { firstMs: 60_000, factor: 2, maxMs: 600_000 } },
      counts: {
        byStatus: { WAITING: 2, FAILED: 1 },
        byReason: [{ status: "FAILED", reason: "busy", targets: 1 }],
        waitingAfter: [{ reason: "no_answer", targets: 2 }],
      },
      estimatedEndAt: Date.UTC(2026, 0, 31, 13),
    });
    const { json, headers } = await ask(serve({ batches: { get: async () => details } }).app, { path: batchPath });
    expect(json).toMatchObject({
      schedule: {
        start_at: "1970-01-01T00:00:00.000Z",
        end_at: null,
        hours: { from: "09:00", to: "18:00", days: [1] },
        zone: "Europe/Lisbon",
      },
      retry: { on: ["busy"], times: 2, backoff: { first_ms: 60_000, factor: 2, max_ms: 600_000 } },
      counts: {
        targets: 3,
        by_status: { WAITING: 2, FAILED: 1 },
        by_reason: [{ status: "FAILED", reason: "busy", targets: 1 }],
        waiting_after: [{ reason: "no_answer", targets: 2 }],
      },
      estimated_end_at: "2026-01-31T13:00:00.000Z",
    });
    const { app } = serve({ batches: { get: async () => details } });
    const secondReply = await ask(app, { path: batchPath, headers: { "if-none-match": headers.etag ?? "" } });
    expect(secondReply.status).toBe(304);
  });

  test("shows its message without the bytes of an audio file", async () => {
    const get = async () => batchDetails({ message: { type: "FIXED_AUDIO", audio: { durationMs: 2_000 } } });
    const { json } = await ask(serve({ batches: { get } }).app, { path: batchPath });
    expect(json.message).toEqual({ type: "FIXED_AUDIO" });
  });

  test.each(["start", "pause", "resume", "cancel"])("accepts the step %s without a body", async (step) => {
    const { status, json } = await ask(serve().app, { method: "POST", path: `${batchPath}/${step}` });
    expect([status, json.id]).toEqual([200, BATCH_ID]);
  });

  test("passes on the bodies of start and cancel", async () => {
    const inputs: unknown[] = [];
    const step = async (_: Principal, __: string, input: unknown) => {
      inputs.push(input);
      return batchDetails();
    };
    const { app } = serve({ batches: { start: step, cancel: step } });
    await ask(app, { method: "POST", path: `${batchPath}/start`, body: { skipInvalid: true } });
    await ask(app, { method: "POST", path: `${batchPath}/cancel`, body: { liveCalls: "end" } });
    expect(inputs).toEqual([{ skipInvalid: true }, { liveCalls: "end" }]);
  });

  test("is deleted with 204, and has a plan", async () => {
    expect((await ask(serve().app, { method: "DELETE", path: batchPath })).status).toBe(204);
    expect((await ask(serve().app, { path: `${batchPath}/plan` })).json).toMatchObject({ call_ms: 30_000 });
  });
});

describe("a user's plans", () => {
  test("are made two at a time", async () => {
    const gate = Promise.withResolvers<never>();
    const { app } = serve({ batches: { plan: () => gate.promise } });
    const first = [ask(app, { path: `${batchPath}/plan` }), ask(app, { path: `${batchPath}/plan` })];
    const { status, json } = await ask(app, { path: `${batchPath}/plan` });
    expect([status, json.code]).toEqual([503, "server_busy"]);
    gate.reject(new Refusal("batch_not_found", "gone"));
    await Promise.all(first);
    expect((await ask(app, { path: `${batchPath}/plan` })).json.code).toBe("batch_not_found");
  });
});

describe("POST /v1/batches/:batchId/targets", () => {
  /** The rows that an import with this body reads. */
  async function importTargets(request: Partial<TestRequest>) {
    const rows: unknown[] = [];
    const addTargets: BatchUseCases["addTargets"] = async (_, __, input) => {
      for await (const row of input) rows.push(row);
      return { rows: rows.length, stored: { WAITING: rows.length }, faults: [] };
    };
    const reply = await ask(serve({ batches: { addTargets } }).app, { method: "POST", path: TARGETS, ...request });
    return { rows, reply };
  }
  const ADA = { phoneNumber: "+12025550101", variables: { name: "Ada" } };

  test.each([
    ["a list", [ADA]],
    ["an object", { targets: [ADA] }],
  ])("reads JSON with %s", async (_, body) => {
    const { rows, reply } = await importTargets({ body });
    expect(rows).toEqual([{ row: 1, input: ADA }]);
    expect([reply.status, reply.json]).toEqual([200, { rows: 1, stored: { WAITING: 1 }, faults: [] }]);
  });

  test("reads NDJSON", async () => {
    const { rows } = await importTargets({
      headers: { "content-type": "application/x-ndjson" },
      body: `${JSON.stringify(ADA)}\n`,
    });
    expect(rows).toEqual([{ row: 1, input: ADA }]);
  });

  test("reads CSV, by the columns that the query names and the variables of the message", async () => {
    const { rows } = await importTargets({
      path: `${TARGETS}?phone_column=Fixo&reference_column=Id`,
      headers: { "content-type": "text/csv; charset=windows-1252" },
      body: "Id;Phone;NAME;Fixo\n7;x;Ada;+1 202 555 0101\n",
    });
    const variables = { Phone: "x", name: "Ada" };
    const columns = { phoneNumber: "Fixo", reference: "Id", name: "NAME" };
    expect(rows).toEqual([{ row: 2, input: { phoneNumber: "+12025550101", reference: "7", variables }, columns }]);
  });

  test("reads the columns of variables from the query", async () => {
    const importWith = (columns: string) =>
      importTargets({
        path: `${TARGETS}?variable_columns=${encodeURIComponent(columns)}`,
        headers: { "content-type": "text/csv" },
        body: "phone,First name\n+12025550101,Ada\n",
      });
    const { rows } = await importWith('{"name":"First name"}');
    expect(rows).toMatchObject([{ row: 2, input: { phoneNumber: "+12025550101", variables: { name: "Ada" } } }]);
    for (const columns of ["name", "[1]", '{"name":1}', '{"name":{}}', '{"name":"a\u0000"', "x".repeat(10_001)]) {
      const { reply } = await importWith(columns);
      expect([reply.status, reply.json.errors?.[0]?.parameter]).toEqual([400, "variable_columns"]);
    }
  });

  test.each([
    [{ "content-type": "application/pdf" }, "x", 415, "unsupported_media_type"],
    [{ "content-type": "text/csv; charset=utf-16" }, "x", 415, "unsupported_media_type"],
    [{ "content-type": "text/csv", "content-encoding": "gzip" }, "x", 415, "unsupported_media_type"],
    [{ "content-type": "text/csv", "content-length": String(64 * 1024 ** 2 + 1) }, "x", 413, "body_too_large"],
    [{ "content-type": "text/csv" }, "name\nAda\n", 400, "invalid_request"],
    [{}, '{"people":[]}', 400, "required"],
    [{}, "", 400, "invalid_json"],
  ])("refuses a body with %j", async (headers, body, status, code) => {
    const { reply } = await importTargets({ headers: headers as Record<string, string>, body });
    expect([reply.status, reply.json.errors?.[0]?.code ?? reply.json.code]).toEqual([
      status,
      code === "invalid_request" ? "value_invalid" : code,
    ]);
  });

  test("stops reading a body of more than 64 MiB, and names the limit", async () => {
    let pieces = 0;
    const body = (async function* () {
      const piece = new TextEncoder().encode(`phone,name\n1,${"x".repeat(60_000)}\n`);
      for (; ; pieces++) yield piece;
    })();
    const { reply } = await importTargets({ headers: { "content-type": "text/csv" }, body });
    expect([reply.status, reply.json.code, reply.json.limit]).toEqual([413, "body_too_large", 64 * 1024 ** 2]);
    expect(reply.json.detail).toContain("64 MiB");
    expect(pieces).toBeLessThan(1_200);
  });

  test("runs one import per user at a time", async () => {
    const gate = Promise.withResolvers<void>();
    const addTargets: BatchUseCases["addTargets"] = async () => {
      await gate.promise;
      return { rows: 0, stored: {}, faults: [] };
    };
    const { app } = serve({ batches: { addTargets } });
    const post = { method: "POST", path: TARGETS, body: [] };
    const first = ask(app, post);
    const second = await ask(app, post);
    expect([second.status, second.json.code]).toEqual([503, "server_busy"]);
    gate.resolve();
    expect((await first).status).toBe(200);
    expect((await ask(app, post)).status).toBe(200);
  });
});

describe("the targets of a batch", () => {
  test("are listed in pages by position, filtered by status", async () => {
    const { batches, requests } = recordCalls("targets", [target(), target({ position: 2 })]);
    const { app } = serve({ batches });
    const { json, headers } = await ask(app, { path: `${TARGETS}?status=WAITING,FAILED&limit=1` });
    expect(json).toMatchObject([{ position: 1, phone_number: "+12025550101", variables: { name: "Ada" } }]);
    const [, next = ""] = /<([^>]+)>/.exec(headers.link ?? "") ?? [];
    await ask(app, { path: next });
    const filter = { status: ["WAITING", "FAILED"] };
    expect(requests).toEqual([
      [BATCH_ID, filter, { limit: 2, after: undefined }],
      [BATCH_ID, filter, { limit: 2, after: "1" }],
    ]);
  });

  test("show what they wait for", async () => {
    const waiting = { reason: "retry", after: "busy", until: 5_000 } as const;
    const targets = async () => [target({ waiting }), target({ position: 2 })];
    const { json } = await ask(serve({ batches: { targets } }).app, { path: TARGETS });
    expect(json[0].waiting).toEqual({ reason: "retry", after: "busy", until: "1970-01-01T00:00:05.000Z" });
    expect(json[1].waiting).toBeNull();
  });

  test("show their last call's result", async () => {
    const result = {
      ...{ reason: "message_played" as const, detail: null, answeredBy: "human" as const, heardMs: 900 },
      ...{ heardRatio: 1, heardEvidence: "inbound" as const, durationMs: 1_000, startedAt: 0, endedAt: 1_000 },
    };
    const targets = async () => [target({ status: "COMPLETED", reason: "message_played", result })];
    const { json } = await ask(serve({ batches: { targets } }).app, { path: TARGETS });
    expect(json[0].result).toEqual({
      ...{ reason: "message_played", detail: null, answered_by: "human", heard_ms: 900, heard_ratio: 1 },
      ...{ heard_evidence: "inbound", duration_ms: 1_000, started_at: "1970-01-01T00:00:00.000Z" },
      ...{ ended_at: "1970-01-01T00:00:01.000Z", result: null },
    });
  });

  /** The response as a CSV file of this many targets, and the pages that were read for it. */
  async function csvOf(count: number, query = "") {
    const pages: unknown[] = [];
    const targets: BatchUseCases["targets"] = async (_, __, ___, { limit = 0, after = "0" } = {}, options) => {
      expect(options).toEqual({ withWaits: false });
      pages.push([after, limit]);
      const from = Number(after) + 1;
      return Array.from({ length: Math.min(limit, count + 1 - from) }, (_, index) =>
        target({ position: from + index }),
      );
    };
    const { app } = serve({ batches: { targets } });
    const path = `${TARGETS}${query}`;
    const { status, headers, raw } = await ask(app, { path, headers: { accept: "text/csv" } });
    const pieces: string[] = [];
    for await (const piece of raw.body as AsyncIterable<Uint8Array>) pieces.push(new TextDecoder().decode(piece));
    return { status, headers, pages, pieces, rows: pieces.join("").trimEnd().split("\r\n") };
  }

  test("are sent in pieces as a CSV file to a client that accepts one", async () => {
    const { status, headers, pages, pieces, rows } = await csvOf(250);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "content-type": "text/csv; charset=utf-8; header=present",
      "content-disposition": `attachment; filename="${BATCH_ID}.csv"`,
      vary: "Accept",
    });
    expect(rows).toHaveLength(251);
    expect(rows[1]).toMatch(/^1,1,\+12025550101,,,Ada,WAITING,0,/);
    expect(rows[250]).toMatch(/^250,/);
    const read = [
      ["0", 100],
      ["100", 100],
      ["200", 100],
    ];
    expect(pages).toEqual([...read, ...read]); // for the header, and for the rows
    expect(pieces).toHaveLength(4);
  });

  test("have a column for every variable in a CSV file", async () => {
    const variables = [{ name: "Ada" }, { name: "Ben", city: "Rio" }, { status: "new" }];
    const targets: BatchUseCases["targets"] = async () =>
      variables.map((values, index) => target({ position: index + 1, variables: values }));
    const { raw } = await ask(serve({ batches: { targets } }).app, { path: TARGETS, headers: { accept: "text/csv" } });
    const [header = "", ...rows] = (await new Response(raw.body as ReadableStream).text()).split("\r\n");
    expect(header).toContain(",name,city,variables.status,status,");
    expect(rows.slice(0, 3).map((row) => row.split(",").slice(5, 8))).toEqual([
      ["Ada", "", ""],
      ["Ben", "Rio", ""],
      ["", "", "new"],
    ]);
  });

  test("end at the limit of a CSV file", async () => {
    const { pages, rows } = await csvOf(250, "?limit=150");
    expect(rows).toHaveLength(151);
    expect(pages).toEqual([
      ...[
        ["0", 100],
        ["100", 50],
      ],
      ...[
        ["0", 100],
        ["100", 50],
      ],
    ]);
  });

  test("are changed by PATCH and removed by DELETE", async () => {
    const { app } = serve();
    const patchReply = await ask(app, { method: "PATCH", path: `${TARGETS}/1`, body: { reference: "7" } });
    expect([patchReply.status, patchReply.json.position]).toEqual([200, 1]);
    expect((await ask(app, { method: "DELETE", path: `${TARGETS}/1` })).status).toBe(204);
  });

  test.each(["0", "x", "-1", "1.5", "9999999999"])("are not found at the position %s", async (position) => {
    for (const method of ["PATCH", "DELETE"]) {
      const body = method === "PATCH" ? { body: {} } : {};
      const { status, json } = await ask(serve().app, { method, path: `${TARGETS}/${position}`, ...body });
      expect([status, json.code]).toEqual([404, "target_not_found"]);
    }
  });
});

test.each([
  ["GET", ""],
  ["DELETE", ""],
  ["GET", "/plan"],
  ["POST", "/start"],
  ["POST", "/pause"],
  ["POST", "/resume"],
  ["POST", "/cancel"],
  ["GET", "/targets"],
  ["POST", "/targets"],
  ["PATCH", "/targets/1"],
  ["DELETE", "/targets/1"],
])("%s of an unknown batch%s responds 404", async (method, end) => {
  const body = method === "PATCH" || end === "/targets" ? { body: [] } : {};
  const { status, json } = await ask(serve().app, {
    method,
    path: `/v1/batches/batch_unknown${end}`,
    ...(method === "GET" ? {} : body),
  });
  expect([status, json.code]).toEqual([404, "batch_not_found"]);
});

test("a call that a batch has placed names the batch", async () => {
  const { call } = await import("./support/fakes.ts");
  const get = async () => call({ batchId: BATCH_ID });
  const { json } = await ask(serve({ calls: { get } }).app, { path: `/v1/calls/${call().id}` });
  expect(json.batch_id).toBe(BATCH_ID);
});

describe("the interface over a real application", () => {
  /** The interface over a real application; each token is the id of its user. */
  async function withApplication() {
    const world = await World.start();
    const instance = await world.activeInstance();
    const demo: Principal = { ...ALICE, demoInstanceId: instance.id };
    const principals: Record<string, Principal> = { alice: ALICE, bob: BOB, demo };
    const app = createHttp({
      ...dependencies(),
      batches: world.app.batches,
      calls: world.app.calls,
      queries: world.app.queries,
      system: world.system,
      authenticate: async (token) => principals[token],
    });
    const requestAs =
      (token: string) => (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
        ask(app, { method, path, token, ...(body !== undefined && { body }), ...(headers && { headers }) });
    const input = {
      name: "Reminders",
      instanceIds: [instance.id],
      message: { type: "FIXED_TTS", tts: { text: "Hello {{name}}", voiceId: "en-US-1" } },
    };
    return {
      world,
      app: app as WebApp,
      alice: requestAs("alice"),
      bob: requestAs("bob"),
      demo: requestAs("demo"),
      input,
    };
  }

  test("a batch of another user is like a missing one", async () => {
    const { world, alice, bob, input } = await withApplication();
    const { json } = await alice("POST", "/v1/batches", input);
    expect((await alice("GET", `/v1/batches/${json.id}`)).status).toBe(200);
    const reply = await bob("GET", `/v1/batches/${json.id}`);
    expect([reply.status, reply.json.code]).toEqual([404, "batch_not_found"]);
    expect((await bob("GET", "/v1/batches")).json).toEqual([]);
    await world.stop();
  });

  test("a demo token is refused", async () => {
    const { world, demo, alice, input } = await withApplication();
    const { json } = await alice("POST", "/v1/batches", input);
    const replies = [
      await demo("POST", "/v1/batches", input),
      await demo("GET", "/v1/batches"),
      await demo("GET", `/v1/batches/${json.id}`),
      await demo("POST", `/v1/batches/${json.id}/targets`, []),
    ];
    for (const { status, json } of replies) expect([status, json.code]).toEqual([403, "demo_token_restricted"]);
    await world.stop();
  });

  test("the same key creates one batch", async () => {
    const { world, alice, input } = await withApplication();
    const key = { "idempotency-key": "k" };
    const first = await alice("POST", "/v1/batches", input, key);
    const second = await alice("POST", "/v1/batches", input, key);
    expect([second.status, second.json.id, second.headers["idempotent-replayed"]]).toEqual([
      201,
      first.json.id,
      "true",
    ]);
    await world.stop();
  });

  test("strict handling refuses unknown fields, even in targets", async () => {
    const { world, alice, input } = await withApplication();
    const strict = { prefer: "handling=strict" };
    const reply = await alice("POST", "/v1/batches", { ...input, maxConcurent: 2 }, strict);
    expect([reply.status, reply.json.errors]).toMatchObject([400, [{ pointer: "/maxConcurent" }]]);
    const { json } = await alice("POST", "/v1/batches", input);
    const step = await alice("POST", `/v1/batches/${json.id}/start`, { skipInvalids: true }, strict);
    expect([step.status, step.json.errors?.[0].pointer]).toEqual([400, "/skipInvalids"]);
    const body = [{ phoneNumber: "+12025550101", variables: { name: "Ada" }, phone: "x" }];
    const { json: report } = await alice("POST", `/v1/batches/${json.id}/targets`, body, strict);
    expect(report.faults).toMatchObject([{ faults: [{ column: "phone", code: "unknown_field" }] }]);
    await world.stop();
  });

  test("the steps check their bodies, and refuse impossible moves", async () => {
    const { world, alice, input } = await withApplication();
    const { json } = await alice("POST", "/v1/batches", input);
    const root = `/v1/batches/${json.id}`;
    expect((await alice("POST", `${root}/start`, { skipInvalid: 1 })).status).toBe(400);
    expect((await alice("POST", `${root}/cancel`, { liveCalls: "now" })).status).toBe(400);
    expect((await alice("POST", `${root}/start`)).json.code).toBe("batch_empty");
    expect((await alice("POST", `${root}/pause`)).json.code).toBe("batch_state");
    expect((await alice("DELETE", root)).status).toBe(204);
    expect((await alice("GET", root)).status).toBe(404);
    await world.stop();
  });

  test("a correction checks the target again, and null removes a field", async () => {
    const { world, alice, input } = await withApplication();
    const targets = [{ phoneNumber: "12", variables: { name: "Ada" }, reference: "7" }];
    const { json } = await alice("POST", "/v1/batches", { ...input, targets });
    expect(json.report).toMatchObject({ stored: { INVALID: 1 }, faults: [{ row: 1, phone_number: "12" }] });
    const path = `/v1/batches/${json.id}/targets/1`;
    const correction = await alice("PATCH", path, { phoneNumber: "+12025550101", reference: null });
    expect(correction.json).toMatchObject({
      status: "WAITING",
      reference: null,
      variables: { name: "Ada" },
      faults: [],
    });
    expect((await alice("PATCH", path, [])).json.code).toBe("invalid_json");
    await world.stop();
  });

  test("the events of a batch belong to no instance and no call", async () => {
    const { world, alice, input } = await withApplication();
    const targets = [{ phoneNumber: "+12025550101", variables: { name: "Ada" } }];
    const { json } = await alice("POST", "/v1/batches", { ...input, targets, start: true });
    expect(json.status).toBe("RUNNING");
    const { json: events } = await alice("GET", "/v1/events");
    const startEvent = events.find(({ type }: { type: string }) => type === "batch_started");
    expect(startEvent).toMatchObject({ call_id: null, instance_id: null, sequence: null, data: { batch_id: json.id } });
    await world.stop();
  });
});
