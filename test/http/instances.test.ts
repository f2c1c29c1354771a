import { describe, expect, test } from "vitest";
import { Refusal, type RefusalCode } from "../../src/domain/refusal.ts";
import { PROBLEMS } from "../../src/http/problems/problem-table.ts";
import { ask } from "./support/ask.ts";
import { CALL_ID, INSTANCE_ID, instance, serve } from "./support/fakes.ts";

const SHAPE = {
  id: INSTANCE_ID,
  name: "Front desk",
  status: "CREATED",
  metadata: { branch: "Lisbon" },
  created_at: "2026-01-31T12:00:00.000Z",
  updated_at: "2026-01-31T12:00:00.001Z",
};
const instancePath = `/v1/instances/${INSTANCE_ID}`;
const refuse = (code: RefusalCode) => async () => {
  throw new Refusal(code, "because");
};

describe("POST /v1/instances", () => {
  const post = { method: "POST", path: "/v1/instances", body: { name: "Front desk" } };

  test("a new instance gets 201 with its six fields and a Location", async () => {
    const reply = await ask(serve().app, post);
    expect(reply.status).toBe(201);
    expect(reply.json).toEqual(SHAPE);
    expect(reply.headers.location).toBe(instancePath);
  });

  test("a replay has the header Idempotent-Replayed", async () => {
    const create = async () => ({ ...instance(), created: true, replayed: true });
    const reply = await ask(serve({ instances: { create } }).app, { ...post, headers: { "idempotency-key": "k" } });
    expect(reply.status).toBe(201);
    expect(reply.headers["idempotent-replayed"]).toBe("true");
  });

  test.each(["required", "provider_unknown", "demo_token_restricted", "idempotency_key_reused"] as const)(
    "the refusal %s becomes its problem document",
    async (code) => {
      const reply = await ask(serve({ instances: { create: refuse(code) } }).app, post);
      expect([reply.status, reply.json.code]).toEqual([PROBLEMS[code].status, code]);
    },
  );
});

describe("GET /v1/instances", () => {
  test("the list has six fields, no callQueue", async () => {
    const reply = await ask(serve().app, { path: "/v1/instances" });
    expect(reply.status).toBe(200);
    expect(reply.json).toEqual([SHAPE]);
    expect(reply.headers).toMatchObject({ "cache-control": "private, no-cache" });
  });

  test("expand=connection adds the connection of each", async () => {
    const reply = await ask(serve().app, { path: "/v1/instances?limit=1&expand=connection" });
    expect(reply.json).toEqual([
      { ...SHAPE, connection: expect.objectContaining({ state: "online", phone: "+12025550199" }) },
    ]);
    expect((await ask(serve().app, { path: "/v1/instances?expand=calls" })).status).toBe(400);
  });
});

describe("GET /v1/instances/:instanceId", () => {
  test("a single read adds the queue of active calls", async () => {
    const reply = await ask(serve().app, { path: instancePath });
    expect(reply.json).toEqual({
      ...SHAPE,
      callQueue: [
        {
          id: CALL_ID,
          type: "FIXED_TTS",
          status: "QUEUED",
          target_phone: "+12025550100",
          created_at: "2026-01-31T12:00:00.000Z",
        },
      ],
    });
  });

  test("expand=connection adds the connection", async () => {
    const reply = await ask(serve().app, { path: `${instancePath}?expand=connection` });
    expect(reply.json.connection).toEqual({
      state: "online",
      phone: "+12025550199",
      last_seen_at: "2026-01-31T12:00:00.000Z",
      reason: null,
      condition: null,
      provider: "simulator",
    });
    expect((await ask(serve().app, { path: `${instancePath}?expand=calls` })).status).toBe(400);
  });

  test("the instance of another user gets 404", async () => {
    const reply = await ask(serve().app, { path: "/v1/instances/inst_other" });
    expect([reply.status, reply.json.code]).toEqual([404, "instance_not_found"]);
  });
});

describe("POST /v1/instances/:instanceId/unlink", () => {
  const path = `${instancePath}/unlink`;

  test("the response is the instance; a body is not read", async () => {
    for (const body of [undefined, "{", "null"]) {
      const reply = await ask(serve().app, { method: "POST", path, body });
      expect([reply.status, reply.json]).toEqual([200, SHAPE]);
    }
  });

  test.each(["demo_token_restricted", "instance_not_found", "linked_by_operator", "stopping"] as const)(
    "the refusal %s becomes its problem document",
    async (code) => {
      const reply = await ask(serve({ instances: { unlink: refuse(code) } }).app, { method: "POST", path });
      expect([reply.status, reply.json.code]).toEqual([PROBLEMS[code].status, code]);
    },
  );
});

describe("DELETE /v1/instances/:instanceId", () => {
  test("a deletion gets 204", async () => {
    expect((await ask(serve().app, { method: "DELETE", path: instancePath })).status).toBe(204);
  });

  test.each(["instance_not_found", "demo_token_restricted"] as const)(
    "the refusal %s becomes its problem document",
    async (code) => {
      const reply = await ask(serve({ instances: { delete: refuse(code) } }).app, {
        method: "DELETE",
        path: instancePath,
      });
      expect([reply.status, reply.json.code]).toEqual([PROBLEMS[code].status, code]);
    },
  );
});

describe("GET /v1/instances/:instanceId/configure", () => {
  const path = `${instancePath}/configure`;
  const opaqueCode = async () => ({
    ...{ instanceId: INSTANCE_ID, payload: "2@abc,def", expiresAt: 0, sequence: 1, message: "Scan it." },
  });

  test("the code is bare Base64 of a PNG; headers have its end and its page", async () => {
    const reply = await ask(serve().app, { path });
    expect(Object.keys(reply.json)).toEqual(["instanceId", "qrCodeBase64", "message"]);
    expect(reply.json).toMatchObject({ instanceId: INSTANCE_ID, message: "Scan it." });
    expect(atob(reply.json.qrCodeBase64).slice(1, 4)).toBe("PNG");
    expect(reply.headers).toMatchObject({
      "cache-control": "no-store",
      "qr-expires-at": "2026-01-31T12:00:20.000Z",
      "qr-sequence": "3",
      "qr-page": "https://example.test/simulator/link/abc",
      vary: "Accept",
    });
  });

  test("a code that is not a web address has a link page", async () => {
    const reply = await ask(serve({ instances: { configure: opaqueCode } }).app, { path });
    expect(reply.headers["qr-page"]).toBe(`https://example.test/link-page/${INSTANCE_ID}.a.b`);
  });

  test("a code that is scanned in the meantime has no link page", async () => {
    const linkTicket = refuse("instance_already_linked");
    const reply = await ask(serve({ instances: { configure: opaqueCode, linkTicket } }).app, { path });
    expect([reply.status, reply.headers["qr-page"]]).toEqual([200, undefined]);
  });

  test("a client that accepts only image/png gets the image itself", async () => {
    const { app } = serve();
    const reply = await ask(app, { path, headers: { accept: "image/avif,image/png,*/*" } });
    expect(reply.headers).toMatchObject({ "content-type": "image/png", "qr-sequence": "3" });
    const { json } = await ask(app, { path, headers: { accept: "application/json, image/png" } });
    expect(btoa(String.fromCharCode(...(reply.raw.body as Uint8Array)))).toBe(json.qrCodeBase64);
  });

  test.each(["instance_not_found", "instance_already_linked", "qr_unavailable"] as const)(
    "the refusal %s becomes its problem document",
    async (code) => {
      const reply = await ask(serve({ instances: { configure: refuse(code) } }).app, { path });
      expect([reply.status, reply.json.code]).toEqual([PROBLEMS[code].status, code]);
      if (reply.status === 503) expect(reply.headers["retry-after"]).toBe("5");
    },
  );
});

describe("POST /v1/instances/:instanceId/pairing-code", () => {
  const post = { method: "POST", path: `${instancePath}/pairing-code`, body: { phone: "+12025550100" } };

  test("returns the code with its expiry, and forbids caching", async () => {
    const { status, json, headers } = await ask(serve().app, post);
    expect([status, json]).toEqual([
      200,
      {
        instanceId: INSTANCE_ID,
        pairingCode: "7GQ4-M2XK",
        expires_at: "2026-01-31T12:03:00.000Z",
        message: "Type it.",
      },
    ]);
    expect(headers["cache-control"]).toBe("no-store");
  });

  test.each([
    ["pairing_code_unsupported", 409],
    ["pairing_code_unavailable", 503],
    ["instance_already_linked", 409],
  ] as const)("the refusal %s is a %i", async (code, status) => {
    const pairingCode = () => Promise.reject(new Refusal(code, "because"));
    const reply = await ask(serve({ instances: { pairingCode } }).app, post);
    expect([reply.status, reply.json.code]).toEqual([status, code]);
  });
});
