import { describe, expect, test } from "vitest";
import { Refusal, type RefusalCode } from "../../src/domain/refusal.ts";
import { PROBLEMS } from "../../src/http/problems/problem-table.ts";
import { ask } from "./support/ask.ts";
import { CALL_ID, INSTANCE_ID, instance, serve } from "./support/fakes.ts";

const EXPECTED_SHAPE = {
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

  test("a new instance returns 201 with six fields and a Location", async () => {
    const response = await ask(serve().app, post);
    expect(response.status).toBe(201);
    expect(response.json).toEqual(EXPECTED_SHAPE);
    expect(response.headers.location).toBe(instancePath);
  });

  test("a replay has the Idempotent-Replayed header", async () => {
    const create = async () => ({ ...instance(), created: true, replayed: true });
    const response = await ask(serve({ instances: { create } }).app, { ...post, headers: { "idempotency-key": "k" } });
    expect(response.status).toBe(201);
    expect(response.headers["idempotent-replayed"]).toBe("true");
  });

  test.each(["required", "provider_unknown", "demo_token_restricted", "idempotency_key_reused"] as const)(
    "the refusal %s becomes its problem document",
    async (code) => {
      const response = await ask(serve({ instances: { create: refuse(code) } }).app, post);
      expect([response.status, response.json.code]).toEqual([PROBLEMS[code].status, code]);
    },
  );
});

describe("GET /v1/instances", () => {
  test("each instance has six fields and no callQueue", async () => {
    const response = await ask(serve().app, { path: "/v1/instances" });
    expect(response.status).toBe(200);
    expect(response.json).toEqual([EXPECTED_SHAPE]);
    expect(response.headers).toMatchObject({ "cache-control": "private, no-cache" });
  });

  test("expand=connection adds the connection of each instance", async () => {
    const response = await ask(serve().app, { path: "/v1/instances?limit=1&expand=connection" });
    expect(response.json).toEqual([
      { ...EXPECTED_SHAPE, connection: expect.objectContaining({ state: "online", phone: "+12025550199" }) },
    ]);
    expect((await ask(serve().app, { path: "/v1/instances?expand=calls" })).status).toBe(400);
  });
});

describe("GET /v1/instances/:instanceId", () => {
  test("the response adds the queue of active calls", async () => {
    const response = await ask(serve().app, { path: instancePath });
    expect(response.json).toEqual({
      ...EXPECTED_SHAPE,
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
    const response = await ask(serve().app, { path: `${instancePath}?expand=connection` });
    expect(response.json.connection).toEqual({
      state: "online",
      phone: "+12025550199",
      last_seen_at: "2026-01-31T12:00:00.000Z",
      reason: null,
      condition: null,
      provider: "simulator",
    });
    expect((await ask(serve().app, { path: `${instancePath}?expand=calls` })).status).toBe(400);
  });

  test("another user's instance returns 404", async () => {
    const response = await ask(serve().app, { path: "/v1/instances/inst_other" });
    expect([response.status, response.json.code]).toEqual([404, "instance_not_found"]);
  });
});

describe("POST /v1/instances/:instanceId/unlink", () => {
  const path = `${instancePath}/unlink`;

  test("the response is the instance; a request body is ignored", async () => {
    for (const body of [undefined, "{", "null"]) {
      const response = await ask(serve().app, { method: "POST", path, body });
      expect([response.status, response.json]).toEqual([200, EXPECTED_SHAPE]);
    }
  });

  test.each(["demo_token_restricted", "instance_not_found", "linked_by_operator", "stopping"] as const)(
    "the refusal %s becomes its problem document",
    async (code) => {
      const response = await ask(serve({ instances: { unlink: refuse(code) } }).app, { method: "POST", path });
      expect([response.status, response.json.code]).toEqual([PROBLEMS[code].status, code]);
    },
  );
});

describe("DELETE /v1/instances/:instanceId", () => {
  test("a deletion returns 204", async () => {
    expect((await ask(serve().app, { method: "DELETE", path: instancePath })).status).toBe(204);
  });

  test.each(["instance_not_found", "demo_token_restricted"] as const)(
    "the refusal %s becomes its problem document",
    async (code) => {
      const response = await ask(serve({ instances: { delete: refuse(code) } }).app, {
        method: "DELETE",
        path: instancePath,
      });
      expect([response.status, response.json.code]).toEqual([PROBLEMS[code].status, code]);
    },
  );
});

describe("GET /v1/instances/:instanceId/configure", () => {
  const path = `${instancePath}/configure`;
  const opaqueCode = async () => ({
    ...{ instanceId: INSTANCE_ID, payload: "2@abc,def", expiresAt: 0, sequence: 1, message: "Scan it." },
  });

  test("the code is a Base64 PNG; headers give its expiry and link page", async () => {
    const response = await ask(serve().app, { path });
    expect(Object.keys(response.json)).toEqual(["instanceId", "qrCodeBase64", "message"]);
    expect(response.json).toMatchObject({ instanceId: INSTANCE_ID, message: "Scan it." });
    expect(atob(response.json.qrCodeBase64).slice(1, 4)).toBe("PNG");
    expect(response.headers).toMatchObject({
      "cache-control": "no-store",
      "qr-expires-at": "2026-01-31T12:00:20.000Z",
      "qr-sequence": "3",
      "qr-page": "https://example.test/simulator/link/abc",
      vary: "Accept",
    });
  });

  test("a code that is not a web address has a link page", async () => {
    const response = await ask(serve({ instances: { configure: opaqueCode } }).app, { path });
    expect(response.headers["qr-page"]).toBe(`https://example.test/link-page/${INSTANCE_ID}.a.b`);
  });

  test("a code that is scanned in the meantime has no link page", async () => {
    const linkTicket = refuse("instance_already_linked");
    const response = await ask(serve({ instances: { configure: opaqueCode, linkTicket } }).app, { path });
    expect([response.status, response.headers["qr-page"]]).toEqual([200, undefined]);
  });

  test("a client that accepts only image/png gets the image itself", async () => {
    const { app } = serve();
    const response = await ask(app, { path, headers: { accept: "image/avif,image/png,*/*" } });
    expect(response.headers).toMatchObject({ "content-type": "image/png", "qr-sequence": "3" });
    const { json } = await ask(app, { path, headers: { accept: "application/json, image/png" } });
    expect(btoa(String.fromCharCode(...(response.raw.body as Uint8Array)))).toBe(json.qrCodeBase64);
  });

  test.each(["instance_not_found", "instance_already_linked", "qr_unavailable"] as const)(
    "the refusal %s becomes its problem document",
    async (code) => {
      const response = await ask(serve({ instances: { configure: refuse(code) } }).app, { path });
      expect([response.status, response.json.code]).toEqual([PROBLEMS[code].status, code]);
      if (response.status === 503) expect(response.headers["retry-after"]).toBe("5");
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
  ] as const)("the refusal %s returns %i", async (code, status) => {
    const pairingCode = () => Promise.reject(new Refusal(code, "because"));
    const response = await ask(serve({ instances: { pairingCode } }).app, post);
    expect([response.status, response.json.code]).toEqual([status, code]);
  });
});
