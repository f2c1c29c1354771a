import { describe, expect, test } from "vitest";
import type { CallUseCases } from "../../src/application/use-cases.ts";
import type { Call, Message } from "../../src/domain/calls/call.ts";
import type { MediaStatistics } from "../../src/domain/calls/media-statistics.ts";
import type { Outcome } from "../../src/domain/calls/outcome.ts";
import { invalidInput, Refusal, type RefusalCode } from "../../src/domain/refusal.ts";
import { PROBLEMS } from "../../src/http/problems/problem-table.ts";
import { ask } from "./support/ask.ts";
import { CALL_ID, CREATED, call, event, INSTANCE_ID, NOW, serve } from "./support/fakes.ts";

const BODY = {
  instanceId: INSTANCE_ID,
  type: "FIXED_TTS",
  target: { phoneNumber: "+12025550100" },
  tts: { text: "Hello", voiceId: "en-US-1" },
};
const CREATED_SHAPE = {
  id: CALL_ID,
  instance_id: INSTANCE_ID,
  type: "FIXED_TTS",
  status: "QUEUED",
  target_phone: "+12025550100",
  created_at: "2026-01-31T12:00:00.000Z",
};
const STATISTICS: MediaStatistics = {
  codec: "PCMU",
  packetsSent: 300,
  packetsReceived: 0,
  packetsLost: 2,
  packetsReordered: 1,
  packetsDuplicated: 3,
  packetsInvalid: 4,
  packetsInjected: 5,
  jitterMs: 0.5,
  roundTripMs: null,
  remoteLoss: 0.01,
  mos: null,
  heldMs: 20,
};
const post = { method: "POST", path: "/v1/calls", body: BODY };

describe("POST /v1/calls", () => {
  test("a new call gets 201 with its six fields and a Location", async () => {
    const reply = await ask(serve().app, post);
    expect(reply.status).toBe(201);
    expect(reply.json).toEqual(CREATED_SHAPE);
    expect(reply.headers).toMatchObject({ "content-type": "application/json", location: `/v1/calls/${CALL_ID}` });
    expect(reply.headers).not.toHaveProperty("idempotent-replayed");
  });

  test("an active call is returned with 200, without Location", async () => {
    const create = async () => ({ ...call({ status: "RINGING" }), created: false, replayed: false });
    const reply = await ask(serve({ calls: { create } }).app, post);
    expect(reply.status).toBe(200);
    expect(reply.json).toEqual({ ...CREATED_SHAPE, status: "RINGING" });
    expect(reply.headers).not.toHaveProperty("location");
  });

  test("the caller, the body and the headers reach the use case", async () => {
    const requests: unknown[][] = [];
    const create: CallUseCases["create"] = async (principal, body, { idempotencyKey, strict } = {}) => {
      requests.push([principal, body, { idempotencyKey, strict }]);
      return { ...call(), ...CREATED };
    };
    const { app } = serve({ calls: { create } });
    await ask(app, post);
    await ask(app, { ...post, headers: { "idempotency-key": '"a \\"b\\""', prefer: "respond-async" } }).then((reply) =>
      expect(reply.json.code).toBe("idempotency_key_invalid"),
    );
    await ask(app, { ...post, headers: { "idempotency-key": '"a-b"' } });
    const strictReply = await ask(app, {
      ...post,
      headers: { "idempotency-key": "k1", prefer: "wait=1, Handling=Strict" },
    });
    expect(strictReply.headers["preference-applied"]).toBe("handling=strict");
    expect(requests).toEqual([
      [{ userId: "usr_anna", tokenId: "tok_1" }, BODY, { idempotencyKey: undefined, strict: false }],
      [{ userId: "usr_anna", tokenId: "tok_1" }, BODY, { idempotencyKey: "a-b", strict: false }],
      [{ userId: "usr_anna", tokenId: "tok_1" }, BODY, { idempotencyKey: "k1", strict: true }],
    ]);
  });

  test.each([[true, 201] as const, [false, 200] as const])(
    "a replay has the header and the original status (created: %s)",
    async (created, status) => {
      const create = async () => ({ ...call(), created, replayed: true });
      const reply = await ask(serve({ calls: { create } }).app, { ...post, headers: { "idempotency-key": "k1" } });
      expect(reply.status).toBe(status);
      expect(reply.headers["idempotent-replayed"]).toBe("true");
    },
  );

  test.each(["", " ", "a b", "ключ", "x".repeat(256), '""'])(
    "an invalid idempotency key is refused (%#)",
    async (key) => {
      const headers = {
        get: (name: string) =>
          name === "idempotency-key" ? key : name === "authorization" ? "Bearer rp_live_anna" : null,
      };
      const body = (async function* () {
        yield new TextEncoder().encode(JSON.stringify(BODY));
      })();
      const reply = await serve().app.handle({ method: "POST", url: "http://h/v1/calls", headers, body });
      expect(reply.status).toBe(400);
      expect(JSON.parse(String(reply.body)).code).toBe("idempotency_key_invalid");
    },
  );

  test("a 400 lists all faults of the body with their pointers", async () => {
    const create = async () => {
      throw invalidInput([
        { pointer: "/instanceId", code: "required", detail: "this field is required" },
        { pointer: "/target/phoneNumber", code: "phone_number_invalid", detail: "must be an E.164 number" },
      ]);
    };
    const reply = await ask(serve({ calls: { create } }).app, post);
    expect(reply.status).toBe(400);
    expect(reply.json).toMatchObject({ code: "invalid_request", status: 400, instance: "/v1/calls" });
    expect(reply.json.errors).toEqual([
      { pointer: "/instanceId", code: "required", detail: "this field is required" },
      { pointer: "/target/phoneNumber", code: "phone_number_invalid", detail: "must be an E.164 number" },
    ]);
  });

  const refusals: RefusalCode[] = [
    "voice_unavailable",
    "audio_unsupported",
    "demo_token_restricted",
    "destination_not_allowed",
    "caller_id_not_allowed",
    "daily_call_limit",
    "instance_not_found",
    "queue_full",
    "idempotency_key_in_progress",
    "idempotency_key_reused",
    "storage_unavailable",
    "stopping",
  ];
  test.each(refusals)("the refusal %s becomes its problem document", async (code) => {
    const create = async () => {
      throw new Refusal(code, "because");
    };
    const reply = await ask(serve({ calls: { create } }).app, post);
    expect(reply.status).toBe(PROBLEMS[code].status);
    expect(reply.json).toMatchObject({ code, detail: "because", title: PROBLEMS[code].title });
  });

  test("a refusal about a limit names the limit and a Retry-After in seconds", async () => {
    const create = async () => {
      throw new Refusal("daily_call_limit", "because", { limit: 200, retryAfterMs: 61_001 });
    };
    const reply = await ask(serve({ calls: { create } }).app, post);
    expect([reply.status, reply.json.limit, reply.headers["retry-after"]]).toEqual([429, 200, "62"]);
    expect(reply.headers).not.toHaveProperty("ratelimit");
  });
});

describe("GET /v1/calls/:callId", () => {
  const finalFields: Partial<Call> = { status: "COMPLETED", startedAt: NOW + 3000, endedAt: NOW + 9000 };
  const outcome: Outcome = {
    reason: "message_played",
    detail: null,
    answeredBy: "human",
    heardMs: 5000,
    heardRatio: 1,
    heardEvidence: "inbound",
    durationMs: 6000,
  };
  const get = (overrides: Partial<Call>, query = "") =>
    ask(serve({ calls: { get: async () => call(overrides) } }).app, { path: `/v1/calls/${CALL_ID}${query}` });

  test("a call has exactly its eight fields", async () => {
    const reply = await get(finalFields);
    expect(reply.status).toBe(200);
    expect(reply.json).toEqual({
      ...CREATED_SHAPE,
      status: "COMPLETED",
      started_at: "2026-01-31T12:00:03.000Z",
      ended_at: "2026-01-31T12:00:09.000Z",
    });
    expect(reply.headers["cache-control"]).toBe("private, no-cache");
  });

  test("the times of a new call are null", async () => {
    expect((await get({})).json).toMatchObject({ started_at: null, ended_at: null });
  });

  test("the outcome of an earlier version has null as evidence", async () => {
    const { heardEvidence: _, ...earlierOutcome } = outcome;
    const reply = await get({ ...finalFields, outcome: earlierOutcome }, "?expand=outcome");
    expect(reply.json.outcome).toMatchObject({ heard_ratio: 1, heard_evidence: null });
  });

  test("expand=reference adds reference and metadata, empty if none were given", async () => {
    const response = await get({ reference: "order 7", metadata: { shop: 3 } }, "?expand=reference");
    expect(response.json).toMatchObject({ reference: "order 7", metadata: { shop: 3 } });
    expect((await get({}, "?expand=reference")).json).toMatchObject({ reference: null, metadata: {} });
    const plainResponse = await get({ reference: "order 7", metadata: { shop: 3 } });
    expect(Object.keys(plainResponse.json)).not.toEqual(expect.arrayContaining(["reference"]));
    expect(plainResponse.json).not.toHaveProperty("metadata");
  });

  test("expand adds outcome, transcript and media", async () => {
    const reply = await get({ ...finalFields, outcome }, "?expand=outcome,%20transcript,media");
    expect(reply.json.outcome).toEqual({
      reason: "message_played",
      detail: null,
      answered_by: "human",
      heard_ms: 5000,
      heard_ratio: 1,
      heard_evidence: "inbound",
      duration_ms: 6000,
    });
    expect(reply.json.transcript).toBeNull();
    expect(reply.json.media).toEqual({ voice_id: "en-US-1", characters: 5, stream: null });
    expect((await get({}, "?expand=outcome")).json.outcome).toBeNull();
  });

  const messages: [Message, unknown][] = [
    [
      { type: "FIXED_TTS", text: "🎉!", voiceId: "en-US-1" },
      { voice_id: "en-US-1", characters: 2, stream: null },
    ],
    [
      { type: "FIXED_AUDIO", format: "mp3", durationMs: 1500, truncated: false },
      { format: "mp3", duration_ms: 1500, truncated: false, stream: null },
    ],
    [{ type: "DYNAMIC_STREAM" }, null],
    [{ type: "DYNAMIC_AGENT", instructions: ["Greet."] }, null],
  ];
  test.each(messages)("expand=media describes %j", async (message, media) => {
    expect((await get({ message }, "?expand=media")).json).toMatchObject({ type: message.type, media });
  });

  test("the media of a finished call include the statistics of the network", async () => {
    const stream = {
      codec: "PCMU",
      packets_sent: 300,
      packets_received: 0,
      packets_lost: 2,
      packets_reordered: 1,
      packets_duplicated: 3,
      packets_invalid: 4,
      packets_injected: 5,
      jitter_ms: 0.5,
      round_trip_ms: null,
      remote_loss: 0.01,
      mos: null,
      held_ms: 20,
    };
    const expandedCall = await get({ ...finalFields, outcome, mediaStatistics: STATISTICS }, "?expand=media");
    expect(expandedCall.json.media).toEqual({ voice_id: "en-US-1", characters: 5, stream });
    const { packetsInjected: _, ...earlierStatistics } = STATISTICS;
    const earlierCall = await get({ ...finalFields, outcome, mediaStatistics: earlierStatistics }, "?expand=media");
    expect(earlierCall.json.media.stream).toEqual({ ...stream, packets_injected: null });
    const streamCall = { ...finalFields, message: { type: "DYNAMIC_STREAM" }, mediaStatistics: STATISTICS } as const;
    expect((await get(streamCall, "?expand=media")).json.media).toEqual({ stream });
  });

  test("an unknown expansion is refused with a list of the known ones", async () => {
    for (const query of ["?expand=outcome,secrets", "?expand=", "?expand=outcome&expand=media"]) {
      const reply = await get({}, query);
      expect(reply.status).toBe(400);
      expect(reply.json.errors[0]).toMatchObject({ pointer: "", parameter: "expand", code: "value_invalid" });
      if (!query.includes("&")) expect(reply.json.errors[0].detail).toContain("outcome, transcript, media");
    }
  });

  test("an unknown or impossible call id gets 404", async () => {
    const { app } = serve();
    for (const id of ["call_none", "%00", "..%3f", "a".repeat(5000), "'; drop table calls; --"]) {
      const reply = await ask(app, { path: `/v1/calls/${encodeURI(id).replaceAll("%25", "%")}` });
      expect(reply.status).toBe(404);
      expect(reply.json.code).toBe("call_not_found");
    }
  });
});

describe("DELETE /v1/calls/:callId", () => {
  test("a hang-up gets 204 without a body", async () => {
    const reply = await ask(serve().app, { method: "DELETE", path: `/v1/calls/${CALL_ID}` });
    expect(reply.status).toBe(204);
    expect(reply.raw.body).toBeUndefined();
    expect(reply.headers).not.toHaveProperty("content-type");
  });

  test("a hang-up of an unknown, foreign or finished call gets 404", async () => {
    const reply = await ask(serve().app, { method: "DELETE", path: "/v1/calls/call_other" });
    expect(reply.status).toBe(404);
    expect(reply.json.code).toBe("call_not_found");
  });
});

describe("GET /v1/calls/:callId/events", () => {
  test("the timeline has exactly the fields of an event", async () => {
    const reply = await ask(serve().app, { path: `/v1/calls/${CALL_ID}/events` });
    expect(reply.json).toEqual([
      {
        id: event().id,
        type: "dtmf",
        timestamp: "2026-01-31T12:00:00.005Z",
        call_id: CALL_ID,
        instance_id: INSTANCE_ID,
        sequence: 3,
        data: { digit: "1" },
      },
    ]);
  });

  test("an unknown call's timeline is 404", async () => {
    expect((await ask(serve().app, { path: "/v1/calls/call_x/events" })).status).toBe(404);
  });
});
