import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type DeepgramOptions, deepgramTranscription } from "../../../adapters/transcription/index.ts";
import { concatPcm } from "../../../src/audio/samples/pcm.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import { listen, type ScriptedListening } from "../../../src/testing/transcription-contract/listening.ts";
import { type DeepgramServer, deepgramServer } from "../../support/deepgram-server.ts";
import { understandTones } from "../../support/understand-tones.ts";
import { errorsIn } from "./listening.ts";

const API_KEY = "dg-very-secret-key";
const RATE = 16_000;
let server: DeepgramServer;

beforeEach(async () => {
  server = await deepgramServer({ understand: understandTones, apiKey: API_KEY });
});
afterEach(() => server.close());

const openSession = (options: Partial<DeepgramOptions> = {}, sampleRate = RATE): Promise<ScriptedListening> =>
  listen(deepgramTranscription({ baseUrl: server.baseUrl, apiKey: API_KEY, model: "nova", ...options }), {
    sampleRate,
  });

/** Pushes frames of 20 ms without a gap. */
function push({ session }: ScriptedListening, samples: Int16Array, atMs: number, sampleRate = RATE): void {
  const frame = sampleRate / 50;
  for (let offset = 0; offset < samples.length; offset += frame)
    session.push(samples.subarray(offset, offset + frame), atMs + (offset * 1_000) / sampleRate);
}

const silence = (ms: number, sampleRate = RATE): Int16Array => new Int16Array((ms * sampleRate) / 1_000);
/** 0.5 s of silence, then two words of 0.6 s with 0.9 s of silence after each: 3.5 s. */
const speech = (first: number, second: number, sampleRate = RATE): Int16Array =>
  concatPcm([
    silence(500, sampleRate),
    tone(first, 600, sampleRate, 8_000),
    silence(900, sampleRate),
    tone(second, 600, sampleRate, 8_000),
    silence(900, sampleRate),
  ]);

describe.each([
  ["v1", false, "/v1/listen"],
  ["Flux", true, "/v2/listen"],
] as const)("a Deepgram session over %s", (_, flux, path) => {
  test("emits partial texts, final texts and their times", async () => {
    const listening = await openSession({ flux, language: "en" });
    push(listening, speech(440, 880), 1_000);
    await vi.waitFor(() => expect(listening.texts).toEqual(["tone 440", "tone 880"]));
    await listening.session.close();
    await listening.whenEnded;
    const finalEvents = listening.events.filter((event) => event.type === "final");
    for (const [i, startMs] of [1_500, 3_000].entries()) {
      expect(Math.abs((finalEvents[i]?.startMs ?? 0) - startMs)).toBeLessThanOrEqual(60);
      const endMs = finalEvents[i]?.endMs ?? 0;
      expect(endMs - startMs).toBeGreaterThanOrEqual(560);
      expect(endMs - startMs).toBeLessThanOrEqual(1_000);
      expect(finalEvents[i]?.confidence).toBeCloseTo(flux ? 0.8 : 0.9);
    }
    expect(listening.events[0]).toMatchObject({ type: "partial", text: "tone 440" });
    expect(errorsIn(listening.events)).toEqual([]);
    const [connection] = server.connections;
    await vi.waitFor(() => expect(connection!.isOpen).toBe(false));
    expect(connection).toMatchObject({
      path,
      authorization: `Token ${API_KEY}`,
      query: { model: "nova", encoding: "linear16", sample_rate: "16000", [flux ? "language_hint" : "language"]: "en" },
      controls: flux ? ["CloseStream"] : ["Finalize", "CloseStream"],
    });
  });

  test("transcribes the last turn even if no silence follows", async () => {
    const listening = await openSession({ flux });
    push(listening, speech(440, 880).subarray(0, 2.5 * RATE), 0);
    await listening.session.close();
    await listening.whenEnded;
    expect(listening.texts).toEqual(["tone 440", "tone 880"]);
  });

  test("sends unprocessed audio again after a broken connection", async () => {
    server.cutAfter(2.3);
    const listening = await openSession({ flux, timeouts: { retryMs: 20 } });
    const samples = speech(440, 880);
    push(listening, samples.subarray(0, 2 * RATE), 1_000);
    await vi.waitFor(() => expect(listening.texts).toEqual(["tone 440"]));
    push(listening, samples.subarray(2 * RATE), 3_000);
    await vi.waitFor(() => expect(listening.texts).toEqual(["tone 440", "tone 880"]), 5_000);
    await listening.session.close();
    await listening.whenEnded;
    expect(server.connections).toHaveLength(2);
    const secondFinal = listening.events.filter((event) => event.type === "final").at(-1);
    expect(Math.abs((secondFinal?.startMs ?? 0) - 3_000)).toBeLessThanOrEqual(60);
    expect(errorsIn(listening.events)).toEqual([]);
  });
});

test("encoding mulaw means mu-law at 8 kHz", async () => {
  const engine = deepgramTranscription({ baseUrl: server.baseUrl, apiKey: API_KEY, model: "nova", encoding: "mulaw" });
  expect(engine.capabilities.sampleRates).toEqual([8_000]);
  const listening = await listen(engine, { sampleRate: 8_000 });
  push(listening, speech(440, 880, 8_000), 0, 8_000);
  await listening.session.close();
  await listening.whenEnded;
  expect(listening.texts).toEqual(["tone 440", "tone 880"]);
  expect(server.connections[0]).toMatchObject({ query: { encoding: "mulaw", sample_rate: "8000" } });
  expect(server.connections[0]!.seconds).toBeCloseTo(3.5);
});

test("extra parameters are sent, and the base URL may contain a version", async () => {
  const listening = await openSession({ baseUrl: `${server.baseUrl}/v1/`, parameters: { smart_format: "true" } });
  push(listening, silence(200), 0);
  await listening.session.close();
  expect(server.connections[0]).toMatchObject({ path: "/v1/listen", query: { smart_format: "true" } });
});

test("a connection without audio is kept alive", async () => {
  await server.close();
  server = await deepgramServer({ understand: understandTones, apiKey: API_KEY, quietMs: 300 });
  const listening = await openSession({ timeouts: { keepAliveMs: 100 } });
  await vi.waitFor(() => expect(server.connections[0]?.controls.length).toBeGreaterThan(5), 5_000);
  expect(server.connections).toHaveLength(1);
  push(listening, speech(440, 880), 0);
  await listening.session.close();
  await listening.whenEnded;
  expect(listening.texts).toEqual(["tone 440", "tone 880"]);
});

test("a wrong key ends the session and stays hidden", async () => {
  const listening = await openSession({ apiKey: "dg-another-secret" });
  await listening.whenEnded;
  const [error] = errorsIn(listening.events);
  expect(error).toMatchObject({ recoverable: false, message: expect.stringContaining("401: Invalid credentials.") });
  expect(error!.message).not.toContain("dg-another-secret");
});
