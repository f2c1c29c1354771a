import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type OpenaiTranscriptionOptions, openaiTranscription } from "../../../adapters/transcription/index.ts";
import { toneShare } from "../../../src/audio/tones/tone.ts";
import { listen, type ScriptedListening } from "../../../src/testing/transcription-contract/listening.ts";
import { type OpenaiServer, openaiServer } from "../../support/openai-server.ts";
import { printedForms } from "../../support/printed.ts";
import { understandTones } from "../../support/understand-tones.ts";
import { errorsIn, speak } from "./listening.ts";

const API_KEY = "sk-very-secret-key";
const RATE = 16_000;
let server: OpenaiServer;

beforeEach(async () => {
  server = await openaiServer({ understand: understandTones, apiKey: API_KEY });
});
afterEach(() => server.close());

const openSession = (
  options: Partial<OpenaiTranscriptionOptions> = {},
  sampleRate = RATE,
): Promise<ScriptedListening> =>
  listen(openaiTranscription({ baseUrl: server.baseUrl, apiKey: API_KEY, model: "whisper", ...options }), {
    sampleRate,
  });

/** Speaks one turn and ends the session. */
async function transcribeTurn(options: Partial<OpenaiTranscriptionOptions> = {}): Promise<ScriptedListening> {
  const listening = await openSession(options);
  speak(listening.session, 440, 500, 1_000, RATE);
  listening.session.commit();
  await listening.session.close();
  await listening.whenEnded;
  return listening;
}

describe("a turn of a batch session", () => {
  test("is sent as a WAV file and transcribed with its times", async () => {
    const { events } = await transcribeTurn();
    expect(events).toEqual([{ type: "final", text: "tone 440", startMs: 1_000, endMs: 1_900 }]);
    const [request] = server.requests;
    expect(request).toMatchObject({
      authorization: `Bearer ${API_KEY}`,
      fields: { model: "whisper", response_format: "json" },
      sampleRate: RATE,
    });
    expect(request!.samples.length).toBe(0.9 * RATE);
    expect(toneShare(request!.samples.subarray(RATE / 5, 0.7 * RATE), 440, RATE)).toBeGreaterThan(0.99);
  });

  test("is sent with the configured languages and prompt", async () => {
    await transcribeTurn({ language: "pt", prompt: "Ringport" });
    await transcribeTurn({ language: ["pt", "en"], baseUrl: `${server.baseUrl}/`, headers: { "x-team": "calls" } });
    expect(server.requests.map(({ fields }) => fields)).toEqual([
      { model: "whisper", response_format: "json", language: "pt", prompt: "Ringport" },
      { model: "whisper", response_format: "json", "languages[]": ["pt", "en"] },
    ]);
  });

  test("keeps the spoken order if the first response is slow", async () => {
    server.fail({ after: 200 });
    const { session, texts, whenEnded: ended } = await openSession({}, 8_000);
    speak(session, 440, 300, 0, 8_000);
    session.commit();
    speak(session, 880, 300, 2_000, 8_000);
    session.commit();
    session.commit(); // an empty turn
    await session.close();
    await ended;
    expect(texts).toEqual(["tone 440", "tone 880"]);
    expect(server.requests).toHaveLength(2);
  });

  test("is not sent before its end", async () => {
    const { session, whenEnded: ended } = await openSession();
    speak(session, 440, 500, 0, RATE);
    await session.close();
    await ended;
    expect(server.requests).toEqual([]);
  });
});

describe("a failing transcription server", () => {
  test.for([
    [401, true],
    [403, true],
    [404, true],
    [400, false],
    [422, false],
  ] as const)("with status %i is quoted without the key and not tried again", async ([status, isPermanent]) => {
    const body = JSON.stringify({ error: { message: `Incorrect: ${API_KEY}` } });
    server.fail({ status, body });
    const { events } = await transcribeTurn();
    const [error] = errorsIn(events);
    expect(printedForms(events)).not.toContain("very-secret-key");
    expect(error).toMatchObject({ recoverable: !isPermanent });
    expect(error!.message).toMatch(
      new RegExp(`^the transcription server responded with ${status}: Incorrect: \\[hidden\\]`),
    );
    expect(server.requests).toHaveLength(1);
  });

  test("with 401 ends the session, naming the setting", async () => {
    const { session, events, whenEnded: ended } = await openSession({ apiKey: "sk-wrong-key" });
    speak(session, 440, 300, 0, RATE);
    session.commit();
    await ended;
    expect(errorsIn(events)).toEqual([
      { message: expect.stringContaining("RINGPORT_TRANSCRIPTION_KEY"), recoverable: false },
    ]);
    speak(session, 440, 300, 0, RATE);
    session.commit();
    await session.close();
    expect(events).toHaveLength(1);
  });

  test("is tried again after Retry-After for a 429, and soon for a 500", async () => {
    server.fail({ status: 429, headers: { "retry-after": "1" } });
    const startedAt = performance.now();
    expect((await transcribeTurn()).texts).toEqual(["tone 440"]);
    expect(performance.now() - startedAt).toBeGreaterThan(950);
    server.fail({ status: 500 });
    expect((await transcribeTurn()).texts).toEqual(["tone 440"]);
    expect(server.requests).toHaveLength(4);
  });

  test.for([
    ["silent", /did not respond within 200 ms/, 1],
    ["stall", /did not respond within 200 ms/, 1],
    ["truncate", /broken JSON/, 1],
  ] as const)("with the fault %s is reported, and the next turn is sent", async ([fault, message, requests]) => {
    server.fail(fault);
    const { session, events, texts, whenEnded: ended } = await openSession({ timeoutMs: 200 });
    speak(session, 440, 300, 0, RATE);
    session.commit();
    speak(session, 880, 300, 2_000, RATE);
    session.commit();
    await session.close();
    await ended;
    expect(errorsIn(events)).toEqual([{ message: expect.stringMatching(message), recoverable: true }]);
    expect(texts).toEqual(["tone 880"]);
    expect(server.requests).toHaveLength(requests + 1);
  });

  test("is tried again after a dropped connection", async () => {
    server.fail("drop");
    expect((await transcribeTurn()).texts).toEqual(["tone 440"]);
  });

  test("is reported if it is unreachable", async () => {
    await server.close();
    const { events } = await transcribeTurn({ closeMs: 15_000 });
    expect(errorsIn(events)).toEqual([
      { message: expect.stringMatching(/^the transcription server failed: ./), recoverable: true },
    ]);
  });

  test("loses the oldest turns if it is too slow, and reports them", async () => {
    server.fail({ after: 300 });
    const { session, events, texts } = await openSession();
    const tones = [300, 440, 600, 880, 1_200] as const;
    for (const [i, hz] of tones.entries()) {
      speak(session, hz, 50_000, i * 60_000, RATE);
      session.commit();
    }
    await vi.waitFor(() => expect(texts).toHaveLength(3), 15_000);
    expect(texts).toEqual(["tone 300", "tone 880", "tone 1200"]);
    expect(errorsIn(events).map(({ message }) => message)).toEqual([
      expect.stringContaining("50400 ms of speech were dropped"),
      expect.stringContaining("50400 ms of speech were dropped"),
    ]);
    await session.close();
  });
});

describe("the end of a batch session", () => {
  test("waits at most closeMs for responses", async () => {
    server.fail({ after: 300 });
    expect((await transcribeTurn({ closeMs: 2_000 })).texts).toEqual(["tone 440"]);
    server.fail("silent");
    const startedAt = performance.now();
    expect((await transcribeTurn({ closeMs: 200 })).texts).toEqual([]);
    expect(performance.now() - startedAt).toBeLessThan(4_000);
  });

  test("settles immediately once the signal aborts or the engine closes", async () => {
    server.fail("silent", "silent");
    const engine = openaiTranscription({ baseUrl: server.baseUrl, apiKey: API_KEY, model: "whisper" });
    for (const endSession of [(session: ScriptedListening) => session.abort.abort(), () => void engine.close()]) {
      const listening = await listen(engine);
      speak(listening.session, 440, 300, 0, RATE);
      listening.session.commit();
      endSession(listening);
      await listening.whenEnded;
      await listening.session.close();
      expect(listening.events).toEqual([]);
    }
  });
});

test("openaiTranscription refuses a malformed base URL", () => {
  expect(() => openaiTranscription({ baseUrl: "nowhere", model: "whisper" })).toThrow(TypeError);
});
