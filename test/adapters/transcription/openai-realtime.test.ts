import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type OpenaiRealtimeOptions, openaiRealtimeTranscription } from "../../../adapters/transcription/index.ts";
import { listen, type ScriptedListening } from "../../../src/testing/transcription-contract/listening.ts";
import { type OpenaiServer, openaiServer } from "../../support/openai-server.ts";
import { understandTones } from "../../support/understand-tones.ts";
import { errorsIn, speak } from "./listening.ts";

const API_KEY = "sk-very-secret-key";
const RATE = 24_000;
let server: OpenaiServer;

beforeEach(async () => {
  server = await openaiServer({ understand: understandTones, apiKey: API_KEY });
});
afterEach(() => server.close());

const openSession = (options: Partial<OpenaiRealtimeOptions> = {}): Promise<ScriptedListening> =>
  listen(openaiRealtimeTranscription({ baseUrl: server.baseUrl, apiKey: API_KEY, model: "live", ...options }));

const say = ({ session }: ScriptedListening, hz: number, atMs: number, ms = 500): void => {
  speak(session, hz, ms, atMs, RATE);
  session.commit();
};

describe("a turn of a realtime session", () => {
  test("is transcribed with partial texts, the final text and its times", async () => {
    const listening = await openSession({ language: "pt" });
    say(listening, 440, 1_000);
    await vi.waitFor(() => expect(listening.texts).toEqual(["tone 440"]));
    await listening.session.close();
    await listening.whenEnded;
    expect(listening.events).toEqual([
      { type: "partial", text: "tone ", startMs: 1_000 },
      { type: "partial", text: "tone 440", startMs: 1_000 },
      { type: "final", text: "tone 440", startMs: 1_000, endMs: 1_900 },
    ]);
    const [connection] = server.connections;
    expect(connection).toMatchObject({
      url: "/v1/realtime?intent=transcription",
      authorization: `Bearer ${API_KEY}`,
      session: {
        type: "transcription",
        audio: {
          input: {
            format: { type: "audio/pcm", rate: RATE },
            transcription: { model: "live", language: "pt" },
            turn_detection: null,
          },
        },
      },
      turns: [900],
    });
    await vi.waitFor(() => expect(connection!.isOpen).toBe(false));
  });

  test("keeps its times if transcribed out of order", async () => {
    server.failRealtime("swapped");
    const listening = await openSession();
    say(listening, 440, 1_000);
    say(listening, 880, 3_000);
    await vi.waitFor(() => expect(listening.texts).toHaveLength(2));
    expect(listening.events.filter(({ type }) => type === "final")).toEqual([
      { type: "final", text: "tone 880", startMs: 3_000, endMs: 3_900 },
      { type: "final", text: "tone 440", startMs: 1_000, endMs: 1_900 },
    ]);
    await listening.session.close();
  });

  test("is skipped if it is too short", async () => {
    const listening = await openSession();
    listening.session.push(new Int16Array(RATE / 50), 0);
    listening.session.commit();
    say(listening, 600, 1_000);
    await vi.waitFor(() => expect(listening.texts).toEqual(["tone 600"]));
    expect(listening.events.at(-1)).toMatchObject({ startMs: 1_000 });
    await listening.session.close();
    expect(errorsIn(listening.events)).toEqual([]);
  });

  test("is reported if the server cannot transcribe it", async () => {
    server.failRealtime("failing");
    const listening = await openSession();
    say(listening, 440, 0);
    await vi.waitFor(() => expect(listening.events).toHaveLength(1));
    expect(errorsIn(listening.events)).toEqual([{ message: expect.stringContaining("overloaded"), recoverable: true }]);
    await listening.session.close(); // does not wait for a response
  });
});

describe("a broken realtime connection", () => {
  test("is reopened with its unprocessed turn", async () => {
    server.failRealtime({ dropAtCommit: 2 });
    const listening = await openSession();
    say(listening, 440, 1_000);
    await vi.waitFor(() => expect(listening.texts).toEqual(["tone 440"]));
    say(listening, 880, 3_000);
    speak(listening.session, 600, 300, 5_000, RATE);
    await vi.waitFor(() => expect(listening.texts).toEqual(["tone 440", "tone 880"]), 5_000);
    listening.session.commit();
    await vi.waitFor(() => expect(listening.texts).toEqual(["tone 440", "tone 880", "tone 600"]));
    expect(server.connections.map(({ turns }) => turns)).toEqual([
      [900, 900],
      [900, 700],
    ]);
    expect(listening.events.at(-1)).toMatchObject({ startMs: 5_000, endMs: 5_700 });
    expect(errorsIn(listening.events)).toEqual([]);
    await listening.session.close();
  });

  test("loses no audio during a server's restart", async () => {
    const listening = await openSession();
    say(listening, 440, 1_000);
    await vi.waitFor(() => expect(listening.texts).toHaveLength(1));
    const port = Number(new URL(server.baseUrl).port);
    await server.close();
    say(listening, 880, 3_000);
    say(listening, 1_200, 6_000);
    server = await openaiServer({ understand: understandTones, apiKey: API_KEY, port });
    await vi.waitFor(() => expect(listening.texts).toEqual(["tone 440", "tone 880", "tone 1200"]), 10_000);
    await listening.session.close();
  });

  test("is reported, retried more slowly, and keeps at most 35 s", async () => {
    await server.close();
    const listening = await openSession({ timeouts: { retryMs: 20, closeMs: 100 } });
    await vi.waitFor(() => expect(listening.events).toHaveLength(1), 5_000);
    expect(errorsIn(listening.events)[0]).toMatchObject({ message: expect.stringContaining("cannot be reached") });
    for (let turn = 0; turn < 5; turn++) say(listening, 440, turn * 20_000, 9_600);
    await vi.waitFor(() => expect(errorsIn(listening.events).length).toBeGreaterThan(5));
    const droppedMs = errorsIn(listening.events).flatMap(
      ({ message }) => /(\d+) ms of audio were dropped/.exec(message)?.[1] ?? [],
    );
    expect(droppedMs.reduce((sum, ms) => sum + Number(ms), 0)).toBeGreaterThan(13_000);
    const startedAt = performance.now();
    await listening.session.close();
    expect(performance.now() - startedAt).toBeLessThan(4_000);
    expect(errorsIn(listening.events).every(({ recoverable }) => recoverable)).toBe(true);
    server = await openaiServer({ understand: understandTones });
  });

  test("is reopened after the server falls silent", async () => {
    server.failRealtime("silent");
    const listening = await openSession({ timeouts: { answerMs: 200, retryMs: 20 } });
    say(listening, 440, 1_000);
    await vi.waitFor(() => expect(listening.texts).toEqual(["tone 440"]), 5_000);
    expect(errorsIn(listening.events)).toEqual([
      { message: "the transcription server did not respond within 200 ms", recoverable: true },
    ]);
    expect(server.connections).toHaveLength(2);
    await listening.session.close();
  });
});

describe("a realtime server that refuses", () => {
  test("the key ends the session, naming the setting but not the key", async () => {
    const listening = await openSession({ apiKey: "sk-another-secret" });
    await listening.whenEnded;
    const [error, ...otherErrors] = errorsIn(listening.events);
    expect(otherErrors).toEqual([]);
    expect(error).toMatchObject({ recoverable: false });
    expect(error!.message).toMatch(
      /responded with 401: Incorrect API key provided: \[hidden\].*RINGPORT_TRANSCRIPTION_KEY/,
    );
    say(listening, 440, 0); // ignored after the end
    await listening.session.close();
  });

  test("the model ends the session", async () => {
    server.failRealtime("no_such_model");
    const listening = await openSession();
    await listening.whenEnded;
    expect(errorsIn(listening.events)).toEqual([
      { message: expect.stringContaining("No such model"), recoverable: false },
    ]);
  });

  test("a connection with 503 is tried again", async () => {
    server.failRealtime({ status: 503 });
    const listening = await openSession({ timeouts: { retryMs: 20 } });
    say(listening, 440, 1_000);
    await vi.waitFor(() => expect(listening.texts).toEqual(["tone 440"]), 5_000);
    expect(server.connections).toHaveLength(1);
    expect(listening.events.filter(({ type }) => type === "error")).toEqual([]);
    await listening.session.close();
  });
});

describe("the end of a realtime session", () => {
  test("waits for the text of the last turn", async () => {
    const listening = await openSession();
    say(listening, 440, 1_000);
    await listening.session.close();
    await listening.whenEnded;
    expect(listening.texts).toEqual(["tone 440"]);
  });

  test("waits at most closeMs, and reports missing responses", async () => {
    server.failRealtime("silent");
    const listening = await openSession({ timeouts: { closeMs: 200 } });
    say(listening, 440, 1_000);
    const startedAt = performance.now();
    await listening.session.close();
    await listening.whenEnded;
    expect(performance.now() - startedAt).toBeLessThan(4_000);
    expect(errorsIn(listening.events)).toHaveLength(1);
  });

  test("closes the connection at once when the signal aborts or the engine closes", async () => {
    const engine = openaiRealtimeTranscription({ baseUrl: server.baseUrl, apiKey: API_KEY, model: "live" });
    const listenings = [await listen(engine), await listen(engine)] as const;
    await vi.waitFor(() => expect(server.connections.filter(({ session }) => session)).toHaveLength(2));
    listenings[0].abort.abort();
    await listenings[0].whenEnded;
    await vi.waitFor(() => expect(server.connections.filter(({ isOpen: open }) => open)).toHaveLength(1));
    await engine.close();
    await listenings[1].whenEnded;
    await vi.waitFor(() => expect(server.connections.some(({ isOpen: open }) => open)).toBe(false));
  });
});

test("openaiRealtimeTranscription refuses a malformed base URL", () => {
  for (const baseUrl of ["nowhere", "ftp://example.com/v1"])
    expect(() => openaiRealtimeTranscription({ baseUrl, model: "live" })).toThrow(TypeError);
});
