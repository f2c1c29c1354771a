import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { embeddedSpeech } from "../../../adapters/speech/all-engines.ts";
import type { HttpSpeechOptions } from "../../../adapters/speech/http-speech.ts";
import { concatPcm } from "../../../src/audio/samples/pcm.ts";
import { toneShare } from "../../../src/audio/tones/tone.ts";
import { printedForms } from "../../support/printed.ts";
import { type SpeechServer, speechServer } from "../../support/speech-server.ts";

const API_KEY = "sk-very-secret-key";
let server: SpeechServer;

beforeEach(async () => {
  server = await speechServer();
});
afterEach(() => server.close());

interface SpokenAudio {
  samples: Int16Array;
  sampleRate: number;
}

async function speak(text: string, options: Partial<HttpSpeechOptions> = {}, signal = new AbortController().signal) {
  const speech = embeddedSpeech({
    http: {
      baseUrl: server.baseUrl,
      apiKey: API_KEY,
      model: "kokoro",
      voices: { "pt-BR-1": { voice: "pf_dora" } },
      ...options,
    },
  });
  const pieces: Int16Array[] = [];
  let sampleRate = 0;
  for await (const piece of speech.speak(text, "pt-BR-1", signal)) {
    pieces.push(piece.samples);
    sampleRate = piece.sampleRate;
  }
  return { samples: concatPcm(pieces), sampleRate };
}

async function failure(work: Promise<SpokenAudio>): Promise<Error> {
  return work.then(
    () => {
      throw new Error("the speech did not fail");
    },
    (error: unknown) => error as Error,
  );
}

describe("a request to a speech server", () => {
  test("contains model, voice, format and key", async () => {
    await speak("Bom dia.", {
      headers: { "x-team": "calls" },
      voices: { "pt-BR-1": { voice: "pf_dora", speed: 1.2, language: "p" } },
    });
    expect(server.requests).toEqual([
      {
        path: "/v1/audio/speech",
        authorization: `Bearer ${API_KEY}`,
        body: {
          model: "kokoro",
          input: "Bom dia.",
          voice: "pf_dora",
          response_format: "pcm",
          speed: 1.2,
          language: "p",
        },
      },
    ]);
  });

  test("accepts a trailing slash in the base URL and a model per voice", async () => {
    await speak("Oi.", { baseUrl: `${server.baseUrl}/`, voices: { "pt-BR-1": { voice: "v", model: "other" } } });
    expect(server.requests[0]).toMatchObject({ path: "/v1/audio/speech", body: { model: "other" } });
  });

  test("is made once per text, even concurrently", async () => {
    const speech = embeddedSpeech({
      http: { baseUrl: server.baseUrl, model: "m", voices: { "pt-BR-1": { voice: "v" } } },
    });
    const drain = async () => {
      for await (const _ of speech.speak("Uma vez.", "pt-BR-1", new AbortController().signal));
    };
    await Promise.all([drain(), drain()]);
    await drain();
    expect(server.requests).toHaveLength(1);
  });

  test("is impossible with a malformed voice id", () => {
    const http = { baseUrl: server.baseUrl, model: "m", voices: { portuguese: { voice: "v" } } };
    expect(() => embeddedSpeech({ http })).toThrow('"portuguese" is not a voice id');
  });
});

describe("a speech server's samples", () => {
  test("are complete if pieces end within a sample", async () => {
    const { samples, sampleRate } = await speak("abc abc abc");
    expect(sampleRate).toBe(24_000);
    expect(toneShare(samples.subarray(2000), 450, sampleRate)).toBeGreaterThan(0.97);
  });

  test.each([
    ["the rate that the content type names", "audio/pcm; rate=16000", undefined, 16_000],
    ["otherwise the configured one", "audio/pcm", 22_050, 22_050],
    ["else 24 kHz", "application/octet-stream", undefined, 24_000],
  ])("have %s", async (_, contentType, sampleRate, expected) => {
    server.contentType = contentType;
    expect((await speak("Oi.", sampleRate ? { sampleRate } : {})).sampleRate).toBe(expected);
  });

  test("may be WAV, whose header states the rate", async () => {
    const { sampleRate, samples } = await speak("abc abc", { responseFormat: "wav", sampleRate: 8000 });
    expect(sampleRate).toBe(24_000);
    expect(toneShare(samples.subarray(2000), 450, sampleRate)).toBeGreaterThan(0.97);
  });

  test("are refused if the content type is another one", async () => {
    server.contentType = "text/html; charset=utf-8";
    const error = await failure(speak("Oi."));
    expect(error).toMatchObject({ name: "SpeechFailed" });
    expect(error.message).toContain("text/html instead of samples");
  });
});

test("httpSpeech yields pieces before the response is complete", async () => {
  let resume = () => {};
  server.fail({
    pause: new Promise<void>((resolve) => {
      resume = resolve;
    }),
  });
  const speech = embeddedSpeech({
    http: { baseUrl: server.baseUrl, model: "m", voices: { "pt-BR-1": { voice: "v" } } },
  });
  const text = "um dois tres quatro cinco seis sete oito nove dez";
  const halfMs = (text.split(" ").length * 300) / 2;
  let heardMs = 0;
  let heardBeforeResume = 0;
  for await (const { samples, sampleRate } of speech.speak(text, "pt-BR-1", new AbortController().signal)) {
    heardMs += (1000 * samples.length) / sampleRate;
    if (heardBeforeResume === 0 && heardMs > halfMs - 400) {
      heardBeforeResume = heardMs;
      expect(server.openCount).toBe(1);
      resume();
    }
  }
  expect(heardBeforeResume).toBeGreaterThan(halfMs - 400);
  expect(heardBeforeResume).toBeLessThan(halfMs + 400);
  expect(heardMs).toBeGreaterThan(2 * halfMs - 100);
});

describe("a failing speech server", () => {
  test.each([
    [401, '{"error":{"message":"Incorrect API key: sk-very-secret-key"}}', 1],
    [400, '{"detail":"no such voice pf_dora"}', 1],
    [500, "<h1>Out of memory</h1>", 3],
  ])("is quoted, without the key, for status %i", async (status, body, requests) => {
    server.fail(
      ...Array.from({ length: requests }, () => ({
        status,
        body,
        headers: { "content-type": body.startsWith("{") ? "application/json" : "text/html" },
      })),
    );
    const error = await failure(speak("Our secret."));
    expect(error.name).toBe("SpeechFailed");
    expect(printedForms(error)).not.toMatch(/very-secret-key|Our secret/);
    expect(error.message).toContain(`responded with ${status}`);
    expect(error.message).toMatch(/Incorrect API key: \[hidden\]|no such voice|Out of memory/);
    expect(server.requests).toHaveLength(requests);
  });

  test("prints neither key nor text in its errors", async () => {
    const hangingServer = createServer(() => {});
    await new Promise<void>((resolve) => hangingServer.listen(0, "127.0.0.1", resolve));
    const baseUrl = `http://127.0.0.1:${(hangingServer.address() as AddressInfo).port}/v1`;
    const timeoutError = await failure(speak("Our secret.", { baseUrl, timeoutMs: 100 }));
    hangingServer.close().closeAllConnections();
    expect(timeoutError.message).toMatch(/within 100 ms/);
    const headerError = await failure(speak("Our secret.", { headers: { "x-key": "very-secret-key\u{1F511}" } }));
    const connectionError = await failure(speak("Our secret.", { baseUrl: "http://127.0.0.1:1/v1" }));
    for (const error of [timeoutError, headerError, connectionError])
      expect(printedForms(error)).not.toMatch(/very-secret-key|Our secret/);
  });

  test("is tried again after the Retry-After of a 429", async () => {
    server.fail({ status: 429, headers: { "retry-after": "1" } });
    const startedAt = performance.now();
    expect((await speak("Oi.")).samples.length).toBeGreaterThan(0);
    expect(performance.now() - startedAt).toBeGreaterThan(950);
    expect(server.requests).toHaveLength(2);
  });

  test("is tried again after a 500", async () => {
    server.fail({ status: 500 });
    expect((await speak("Oi.")).samples.length).toBeGreaterThan(0);
  });

  test("is tried again after a cut connection, at most twice", async () => {
    server.fail("cut");
    expect((await speak("Oi.")).samples.length).toBeGreaterThan(0);
    expect(server.requests).toHaveLength(2);
    server.fail(...Array.from({ length: 20 }, () => "cut" as const));
    expect((await failure(speak("Tchau."))).message).toMatch(/^the speech server failed: ./);
    const requestCount = server.requests.length - 2;
    expect(requestCount).toBeGreaterThanOrEqual(3);
    expect(requestCount).toBeLessThanOrEqual(6); // Deno itself repeats requests on reused connections
  });

  test("is quoted briefly if its error body is long", async () => {
    server.fail({ status: 422, body: JSON.stringify({ error: { message: "long ".repeat(1000) } }) });
    expect((await failure(speak("Oi."))).message.length).toBeLessThan(300);
  });

  test("is abandoned in time if it never responds", async () => {
    server.fail("silent");
    const error = await failure(speak("Oi.", { timeoutMs: 150 }));
    expect(error.message).toBe("the speech server did not respond within 150 ms");
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ["stall", /sent nothing for 200 ms/],
    ["truncate", /the speech server failed/],
    ["drop", /the speech server failed/],
    ["empty", /found nothing in the text/],
  ] as const)("is reported, not retried, for the fault %s", async (fault, message) => {
    server.fail(fault);
    const error = await failure(speak("Uma frase um pouco mais longa do que as outras.", { timeoutMs: 200 }));
    expect(error.name).toBe("SpeechFailed");
    expect(error.message).toMatch(message);
    expect(server.requests).toHaveLength(1);
  });

  test("is reported if it is unreachable", { timeout: 20_000 }, async () => {
    await server.close();
    const error = await failure(speak("Oi."));
    expect(error.name).toBe("SpeechFailed");
    expect(error.message).toMatch(/^the speech server failed: ./);
  });
});

test("an aborted signal closes the connection", async () => {
  const abort = new AbortController();
  server.fail("stall");
  const work = failure(speak("Uma frase.", {}, abort.signal));
  await vi.waitFor(() => expect(server.openCount).toBe(1));
  const reason = new Error("barge-in");
  abort.abort(reason);
  expect(await work).toBe(reason);
  await vi.waitFor(() => expect(server.openCount).toBe(0));
});
