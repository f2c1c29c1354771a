import { describe, expect, test } from "vitest";
import type { CreateAudioInput } from "../../src/domain/calls/audio-schemas.ts";
import { ask } from "./support/ask.ts";
import { AUDIO_ID, storedAudio } from "./support/audio-fakes.ts";
import { serve } from "./support/fakes.ts";

const SHAPE = {
  ...{ id: AUDIO_ID, name: "Greeting", format: "wav", bytes: 480_044, duration_ms: 30_000, truncated: false },
  ...{ sha256: "ab".repeat(32), created_at: "2026-01-31T12:00:00.000Z", expires_at: "2026-02-01T12:00:00.000Z" },
};

describe("POST /v1/audio", () => {
  const inputs: unknown[] = [];
  const create = async (_: unknown, input: CreateAudioInput) => {
    inputs.push(structuredClone(JSON.parse(JSON.stringify(input))));
    return { ...storedAudio(), created: inputs.length === 1, replayed: false };
  };
  const { app } = serve({ audio: { create } });
  const post = (path: string, body: unknown, headers: Record<string, string>) =>
    ask(app, { method: "POST", path, body: body as never, headers });

  test("takes JSON, and responds 200 for content that is already stored", async () => {
    const body = { audio: { audioBase64: "AAAA" }, name: "Greeting", expiresInMs: 5 };
    const first = await post("/v1/audio", body, {});
    expect(first).toMatchObject({ status: 201, json: SHAPE, headers: { location: `/v1/audio/${AUDIO_ID}` } });
    const second = await post("/v1/audio", body, {});
    expect([second.status, second.headers.location]).toEqual([200, undefined]);
    expect(inputs).toEqual([body, body]);
  });

  test("takes the file itself, with its fields in the query", async () => {
    inputs.length = 0;
    const reply = await post("/v1/audio?name=A%20b&expiresInMs=5", new Uint8Array([1, 2, 3]), {
      "content-type": "audio/wav",
    });
    expect(reply.status).toBe(201);
    const sha256 = "039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81";
    expect(inputs).toEqual([{ audio: { audioBase64: sha256 }, name: "A b", expiresInMs: 5 }]);
    const faulty = await post("/v1/audio?expiresInMs=0", new Uint8Array([1]), { "content-type": "audio/wav" });
    expect([faulty.status, faulty.json.code]).toEqual([400, "invalid_request"]);
    const other = await post("/v1/audio", new Uint8Array([1]), { "content-type": "video/mp4" });
    const detail = 'Content-Type is "video/mp4": it must begin with audio/, or be application/json or omitted';
    expect([other.status, other.json.code, other.json.detail]).toEqual([415, "unsupported_media_type", detail]);
  });
});

test("a stored audio file is read, listed and deleted", async () => {
  const { app } = serve();
  expect(await ask(app, { path: `/v1/audio/${AUDIO_ID}` })).toMatchObject({ status: 200, json: SHAPE });
  expect((await ask(app, { path: "/v1/audio?limit=1" })).json).toEqual([SHAPE]);
  expect((await ask(app, { method: "DELETE", path: `/v1/audio/${AUDIO_ID}` })).status).toBe(204);
  for (const method of ["GET", "DELETE"]) {
    const { status, json } = await ask(app, { method, path: "/v1/audio/audio_x" });
    expect([status, json.code]).toEqual([404, "audio_not_found"]);
  }
});
