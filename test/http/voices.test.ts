import { describe, expect, test } from "vitest";
import { Refusal } from "../../src/domain/refusal.ts";
import { ask } from "./support/ask.ts";
import { serve } from "./support/fakes.ts";

const SAMPLE = "/v1/voices/pt-BR-1/sample.wav";

describe("a listed voice", () => {
  test("a listed voice has exactly its seven fields", async () => {
    expect((await ask(serve().app, { path: "/v1/voices" })).json).toEqual([
      {
        id: "pt-BR-1",
        language: "pt-BR",
        engine: "espeak-ng",
        name: "pt-br",
        quality: "robotic",
        alias_of: null,
        sample_url: `https://example.test${SAMPLE}`,
      },
    ]);
  });

  test("the filter is passed on, and a wrong value is refused", async () => {
    const filters: unknown[] = [];
    const queries = {
      voices: async (filter?: object) => {
        filters.push(filter);
        return [];
      },
    };
    const { app } = serve({ queries });
    await ask(app, { path: "/v1/voices?language=pt-BR&quality=natural&variants=true" });
    expect(filters).toEqual([{ language: "pt-BR", quality: "natural", variants: true }]);
    const refusal = await ask(app, { path: "/v1/voices?language=portuguese&quality=nice&variants=1" });
    expect(refusal.json.errors.map(({ parameter }: { parameter: string }) => parameter)).toEqual([
      "language",
      "quality",
      "variants",
    ]);
  });

  test.each(["https://example.test/api", "https://example.test"])(
    "the sample URL contains the base path once (public URL %s)",
    async (publicUrl) => {
      const { app } = serve({ http: { basePath: "/api", publicUrl: () => publicUrl } });
      const [voice] = (await ask(app, { path: "/api/v1/voices" })).json;
      expect(voice.sample_url).toBe(`https://example.test/api${SAMPLE}`);
      expect((await ask(app, { path: new URL(voice.sample_url).pathname })).status).toBe(200);
    },
  );
});

describe("the sample of a voice", () => {
  test("the sample is a WAV file that a private cache may keep", async () => {
    const reply = await ask(serve().app, { path: SAMPLE });
    expect([reply.status, reply.text]).toEqual([200, "RIFF pt-BR-1"]);
    expect(reply.headers).toMatchObject({ "content-type": "audio/wav", "cache-control": "private, max-age=3600" });
    const secondReply = await ask(serve().app, { path: SAMPLE, headers: { "if-none-match": reply.headers.etag! } });
    expect([secondReply.status, secondReply.raw.body, secondReply.headers.etag]).toEqual([
      304,
      undefined,
      reply.headers.etag,
    ]);
    const otherReply = await ask(serve().app, { path: SAMPLE.replace("1", "2") });
    expect(otherReply.headers.etag).not.toBe(reply.headers.etag);
  });

  test.each(["a".repeat(129), "pt%00BR", "pt%20BR-1", "..%3f..", "%F0%9F%98%80"])(
    "an impossible voice id gets 404: %s",
    async (id) => {
      const requests: string[] = [];
      const { app } = serve({
        queries: {
          voiceSample: async (id) => {
            requests.push(id);
            return new Uint8Array();
          },
        },
      });
      const reply = await ask(app, { path: `/v1/voices/${id}/sample.wav` });
      expect([reply.status, reply.json.code, requests]).toEqual([404, "voice_not_found", []]);
    },
  );

  test.each([
    ["voice_not_found", 404, undefined],
    ["speech_unavailable", 503, "5"],
  ] as const)("the refusal %s leads to %d", async (code, status, retryAfter) => {
    const { app } = serve({ queries: { voiceSample: () => Promise.reject(new Refusal(code, "why")) } });
    const reply = await ask(app, { path: SAMPLE });
    expect([reply.status, reply.json.code, reply.json.detail]).toEqual([status, code, "why"]);
    expect(reply.headers["retry-after"]).toBe(retryAfter);
  });
});
