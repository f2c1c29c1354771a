import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import type { ClientRequest } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import OpenAI, { AuthenticationError, toFile } from "openai";
import { OpenAIRealtimeWS } from "openai/realtime/ws";
import { afterAll, expect, test } from "vitest";
import type { ClientOptions } from "ws";
import { pcmFromBytes, pcmToBytes, rms } from "../../src/audio/samples/pcm.ts";
import { resample } from "../../src/audio/samples/resample.ts";
import { decodeWav } from "../../src/audio/wav/wav.ts";
import { wavHeader } from "../../src/audio/wav/wav-header.ts";
import { openaiServer } from "../support/openai-server.ts";
import { describeEach, ON_NODE, useServer } from "../support/server.ts";
import { type Client, expected, until } from "../support/server-client.ts";
import { openStream, type StreamClient, type StreamMessage } from "../support/stream-client.ts";
import { recognise } from "./recogniser.ts";
import { SAMPLE, SIMULATED } from "./sentences.ts";
import { folder, withTools } from "./tools.ts";

/** Says SIMULATED right after answering. */
const TALKING = "+12025550106";
const RATE = 16_000;
const API_KEY = "sk-loopback";
const files = folder();

/** The words recognised by pocketsphinx. */
function understand(samples: Int16Array, sampleRate: number): string {
  const resampled = resample(samples, sampleRate, RATE);
  const path = join(files, `${randomUUID()}.wav`);
  writeFileSync(
    path,
    Buffer.concat([wavHeader({ sampleRate: RATE, samples: resampled.length }), pcmToBytes(resampled)]),
  );
  return recognise(path, SIMULATED.words, SAMPLE.words);
}

const fake = await openaiServer({ understand, apiKey: API_KEY });
afterAll(() => fake.close());

const env = (engine: string) => ({
  RINGPORT_STREAM_PREVIEW: "1",
  RINGPORT_TRANSCRIPTION_ENGINE: engine,
  RINGPORT_TRANSCRIPTION_URL: fake.baseUrl,
  RINGPORT_TRANSCRIPTION_MODEL: "pocketsphinx",
  RINGPORT_TRANSCRIPTION_KEY: API_KEY,
  RINGPORT_TRANSCRIPTION_SPEAKERS: "both",
});

const finals = ({ messages }: StreamClient): StreamMessage[] =>
  messages.filter(({ type, final }) => type === "transcript" && final === true);

/** True after a voice of 1.5 s followed by a pause of 160 ms; the end of a turn is detected later. */
function hasSpoken(frames: readonly Buffer[]): boolean {
  const voiced = frames.map((frame) => rms(pcmFromBytes(frame)) > 150);
  return voiced.filter(Boolean).length > 75 && !voiced.slice(-8).some(Boolean);
}

/** Calls the number that speaks, with a client attached to the stream. */
async function startCall(client: Client, base: string): Promise<{ id: string; stream: StreamClient }> {
  const { id } = await client.call((await client.activeInstance()).id, {
    type: "DYNAMIC_STREAM",
    target: { phoneNumber: TALKING },
    tts: undefined,
  });
  return {
    id,
    stream: await openStream(base, id, { token: client.token, query: { sample_rate: RATE, audio: "callee" } }),
  };
}

describeEach([ON_NODE], (target) => {
  for (const engine of ["openai", "openai-realtime"])
    withTools(`speech on a stream, transcribed by ${engine}`, ["pocketsphinx_batch"], () => {
      const server = useServer(target, { env: env(engine) });

      test("is sent and stored word by word, for both speakers", async () => {
        expect(server.output).toContain(
          `transcripts of the callee and the caller by ${engine} at ${new URL(fake.baseUrl).host}`,
        );
        const client = await server.as("ada");
        const { id, stream } = await startCall(client, server.base);
        await until(
          () => finals(stream),
          (transcripts) => transcripts.length > 0,
          20_000,
          "the callee's transcript",
        );
        const sample = expected(200, await client.get("/v1/voices/en-US-1/sample.wav")).body;
        await stream.write(decodeWav(sample).samples);
        await until(
          () => finals(stream),
          (transcripts) => transcripts.length > 1,
          20_000,
          "the caller's transcript",
        );
        expect(finals(stream).map(({ speaker, text }) => [speaker, text])).toEqual([
          ["callee", SIMULATED.heard],
          ["caller", SAMPLE.heard],
        ]);
        expect(stream.messages.some(({ event }) => event === "transcripts_unavailable")).toBe(false);
        stream.ws.close(1000);
        const endedCall = await client.waitForCall(id);
        expect(endedCall).toMatchObject({ status: "COMPLETED", outcome: { reason: "stream_closed" } });
        const call = expected(200, await client.get(`/v1/calls/${id}?expand=transcript`)).json<{
          started_at: string;
          transcript: { speaker: string; text: string; start_ms: number; end_ms: number; timestamp: string }[];
        }>();
        expect(call.transcript.map(({ speaker, text }) => [speaker, text])).toEqual([
          ["callee", SIMULATED.heard],
          ["caller", SAMPLE.heard],
        ]);
        const [callee] = call.transcript;
        // It is spoken 300 ms after the answer, and takes 2 to 4 s.
        expect(callee!.start_ms).toBeLessThan(700);
        expect(callee!.end_ms - callee!.start_ms).toBeGreaterThan(1_500);
        expect(callee!.end_ms - callee!.start_ms).toBeLessThan(5_000);
        expect(Date.parse(callee!.timestamp)).toBe(Date.parse(call.started_at) + callee!.start_ms);
        expect(callee!.timestamp).toBe(finals(stream)[0]?.timestamp);
      });

      test("is complete although the connection to the engine broke midway", async () => {
        if (engine === "openai") fake.fail("drop");
        else fake.failRealtime({ dropAtCommit: 1 });
        const { stream } = await startCall(await server.as("bob"), server.base);
        await until(
          () => finals(stream),
          (transcripts) => transcripts.length > 0,
          20_000,
          "the callee's transcript",
        );
        expect(finals(stream).map(({ text }) => text)).toEqual([SIMULATED.heard]);
        expect(stream.messages.some(({ event }) => event === "transcripts_unavailable")).toBe(false);
        stream.ws.close(1000);
      });

      test("is stored if the client hangs up after the last word", async () => {
        const client = await server.as("eve");
        const { id, stream } = await startCall(client, server.base);
        await until(() => stream.frames, hasSpoken, 20_000, "the end of the sentence");
        expect(finals(stream)).toEqual([]);
        stream.sendMessage({ type: "hangup" });
        await stream.closed();
        expect(stream.messages.at(-1)?.event).toBe("completed");
        // The recogniser may need longer than the one second allowed at the end; test/application uses a manual clock.
        const read = async () =>
          expected(200, await client.get(`/v1/calls/${id}?expand=transcript`)).json<{
            transcript: { text: string }[] | null;
          }>();
        const call = await until(read, ({ transcript }) => transcript !== null, 10_000, "the transcript");
        expect(call.transcript?.map(({ text }) => text)).toEqual([SIMULATED.heard]);
      });
    });

  withTools("the transcription server's fake", ["pocketsphinx_batch"], () => {
    const server = useServer(target);
    const openai = new OpenAI({ baseURL: fake.baseUrl, apiKey: API_KEY, maxRetries: 1 });
    const loadSample = async (): Promise<Buffer> => {
      const client = await server.as("ada");
      return Buffer.from(expected(200, await client.get("/v1/voices/en-US-1/sample.wav")).body);
    };

    test("works with the vendor's client, which recognises its errors", async () => {
      const file = await toFile(await loadSample(), "speech.wav", { type: "audio/wav" });
      const response = await openai.audio.transcriptions.create({ file, model: "whisper-1", response_format: "json" });
      expect(response.text).toBe(SAMPLE.heard);
      const wrongKeyClient = new OpenAI({ baseURL: fake.baseUrl, apiKey: "sk-wrong", maxRetries: 0 });
      await expect(wrongKeyClient.audio.transcriptions.create({ file, model: "m" })).rejects.toThrow(
        AuthenticationError,
      );
      fake.fail({ status: 429, headers: { "retry-after": "1" } });
      expect((await openai.audio.transcriptions.create({ file, model: "m" })).text).toBe(SAMPLE.heard);
    });

    test("works with the vendor's realtime client", async () => {
      const wav = decodeWav(new Uint8Array(await loadSample()));
      const samples = resample(wav.samples, wav.sampleRate, 24_000);
      const options: ClientOptions & { finishRequest(request: ClientRequest): void } = {
        // It always requests TLS and a conversation with a model.
        createConnection: () => connect(Number(new URL(fake.baseUrl).port), "127.0.0.1"),
        finishRequest(request) {
          request.path = "/v1/realtime?intent=transcription";
          request.end();
        },
      };
      const realtime = new OpenAIRealtimeWS({ model: "m", options }, openai);
      const errors: string[] = [];
      try {
        realtime.on("error", (error) => errors.push(error.message));
        const done = new Promise<string>((resolve) =>
          realtime.on("conversation.item.input_audio_transcription.completed", ({ transcript }) => resolve(transcript)),
        );
        await new Promise<void>((resolve) => realtime.on("session.created", () => resolve()));
        realtime.send({
          type: "session.update",
          session: {
            type: "transcription",
            audio: {
              input: {
                format: { type: "audio/pcm", rate: 24_000 },
                transcription: { model: "m" },
                turn_detection: null,
              },
            },
          },
        });
        const audio = Buffer.from(pcmToBytes(samples)).toString("base64");
        realtime.send({ type: "input_audio_buffer.append", audio });
        realtime.send({ type: "input_audio_buffer.commit" });
        expect(await done).toBe(SAMPLE.heard);
        expect(errors).toEqual([]);
      } finally {
        realtime.close();
      }
    });
  });
});
