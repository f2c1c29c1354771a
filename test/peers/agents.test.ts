import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI, { AuthenticationError } from "openai";
import { afterAll, describe, expect, test } from "vitest";
import { pcmToBytes } from "../../src/audio/samples/pcm.ts";
import { resample } from "../../src/audio/samples/resample.ts";
import { wavHeader } from "../../src/audio/wav/wav-header.ts";
import type { ChatReply, ChatRequest } from "../support/openai-chat.ts";
import { openaiServer } from "../support/openai-server.ts";
import { ALL_TARGETS, describeEach, useServer } from "../support/server.ts";
import { expected } from "../support/server-client.ts";
import { recognise } from "./recogniser.ts";
import { ANSWERS, APPOINTMENT, SAMPLE, SIMULATED } from "./sentences.ts";
import { folder, withTools } from "./tools.ts";

/** Says SIMULATED right after answering. */
const TALKING = "+12025550106";
/** Answers questions with words. */
const ANSWERING = "+12025550120";
/** Interrupts the first sentence, and returns the next question. */
const INTERRUPTING_NUMBER = "+12025550121";
const RATE = 16_000;
const API_KEY = "sk-loopback";
const files = folder();

/** A WAV file of samples. */
function wavOf(samples: Int16Array, sampleRate: number): string {
  const resampled = resample(samples, sampleRate, RATE);
  const path = join(files, `${randomUUID()}.wav`);
  writeFileSync(
    path,
    Buffer.concat([wavHeader({ sampleRate: RATE, samples: resampled.length }), pcmToBytes(resampled)]),
  );
  return path;
}

const GREETING = "Good morning.";
const LONG_GREETING =
  "Good morning, this is an automated call about the appointment that you have made with us for next week, and there are a few questions.";
const LAST_WORDS: ChatReply = { text: APPOINTMENT.text, calls: [{ name: "hang_up", arguments: {} }] };
/** The model's replies. */
const REPLIES: Readonly<Record<string, ChatReply>> = {
  [SIMULATED.heard]: LAST_WORDS,
  "yes that is right": { text: "On which day will you come?" },
  "on monday please": { text: "How many people will come?" },
  "we are two people": LAST_WORDS,
};

function reply({ messages }: ChatRequest): ChatReply {
  const [system] = messages;
  // Any words interrupt the agent, which hangs up after its next sentence.
  if (system?.content?.includes("at length"))
    return [{ text: LONG_GREETING }, { text: "This is the clinic." }][(messages.length - 2) / 2] ?? LAST_WORDS;
  return REPLIES[messages.at(-1)?.content ?? ""] ?? { text: GREETING };
}

/** A line of the transcript as the API shows it. */
interface Line {
  readonly speaker: string;
  readonly text: string;
  readonly start_ms: number;
}

/** Start of the first silence of this length after sound, ms. */
function firstSilence(samples: Int16Array, sampleRate: number, lengthMs: number): number {
  let soundAt: number | undefined;
  for (let i = 0; i < samples.length; i++) {
    if (Math.abs(samples[i]!) > 200) soundAt = i;
    else if (soundAt !== undefined && i - soundAt >= (lengthMs * sampleRate) / 1_000) break;
  }
  return ((soundAt ?? 0) * 1_000) / sampleRate;
}

const fake = await openaiServer({
  understand: (samples, sampleRate) =>
    recognise(wavOf(samples, sampleRate), SIMULATED.words, SAMPLE.words, ...ANSWERS.map(({ words }) => words)),
  answer: reply,
  apiKey: API_KEY,
});
afterAll(() => fake.close());

const env = {
  RINGPORT_AGENT_URL: fake.baseUrl,
  RINGPORT_AGENT_MODEL: "scripted",
  RINGPORT_AGENT_KEY: API_KEY,
  RINGPORT_TRANSCRIPTION_ENGINE: "openai",
  RINGPORT_TRANSCRIPTION_URL: fake.baseUrl,
  RINGPORT_TRANSCRIPTION_MODEL: "pocketsphinx",
  RINGPORT_TRANSCRIPTION_KEY: API_KEY,
  RINGPORT_SIMULATOR_TIME_SCALE: "1",
};

describeEach(
  // Agents behave the same on Node 22 and Node 26.
  ALL_TARGETS.filter(({ database, runtime }) => database === "SQLite" && runtime.name !== "node22"),
  (target) => {
    withTools("a call by a language model", ["pocketsphinx_batch"], () => {
      const server = useServer(target, { env });

      describe.concurrent("with a callee who speaks", () => {
        test("hears the callee's sentence, replies and hangs up: word by word, by a recogniser", async () => {
          const client = await server.as("ada");
          const { id } = await client.call((await client.activeInstance()).id, {
            type: "DYNAMIC_AGENT",
            target: { phoneNumber: TALKING },
            agent: { instructions: ["Tell them when their appointment is."] },
          });
          expect(await client.waitForCall(id)).toMatchObject({
            status: "COMPLETED",
            outcome: { reason: "agent_finished" },
          });
          const { transcript } = expected(200, await client.get(`/v1/calls/${id}?expand=transcript`)).json<{
            transcript: readonly { readonly speaker: string; readonly text: string; readonly start_ms: number }[];
          }>();
          expect(transcript.some(({ speaker, text }) => speaker === "callee" && text === SIMULATED.heard)).toBe(true);
          const finalLine = transcript.at(-1)!;
          expect(finalLine).toMatchObject({ speaker: "caller", text: APPOINTMENT.text });
          const { samples, sampleRate } = await client.heard(id);
          const finalAudio = samples.subarray(Math.max(0, ((finalLine.start_ms - 200) * sampleRate) / 1_000));
          expect(recognise(wavOf(finalAudio, sampleRate), APPOINTMENT.words)).toBe(APPOINTMENT.heard);
          expect((await client.timeline(id)).find(({ type }) => type === "agent_started")?.data).toEqual({
            agent: "cascade",
          });
        });

        const converse = async (user: string, phoneNumber: string, instruction: string) => {
          const client = await server.as(user);
          const { id } = await client.call((await client.activeInstance()).id, {
            type: "DYNAMIC_AGENT",
            target: { phoneNumber },
            agent: { instructions: [instruction] },
          });
          const { outcome } = await client.waitForCall(id);
          expect(outcome?.reason).toBe("agent_finished");
          const { transcript } = expected(200, await client.get(`/v1/calls/${id}?expand=transcript`)).json<{
            transcript: readonly Line[];
          }>();
          const sound = await client.heard(id);
          const samplesFrom = (line: Line) =>
            sound.samples.subarray(Math.max(0, ((line.start_ms - 200) * sound.sampleRate) / 1_000));
          const finalLine = transcript.at(-1)!;
          expect(recognise(wavOf(samplesFrom(finalLine), sound.sampleRate), APPOINTMENT.words)).toBe(APPOINTMENT.heard);
          return { transcript, heard: sound, events: await client.timeline(id) };
        };

        test("converses in words, turn by turn", async () => {
          const { transcript } = await converse("cleo", ANSWERING, "Ask when, and how many people will come.");
          expect(transcript.map(({ speaker, text }) => `${speaker}: ${text}`)).toEqual([
            `caller: ${GREETING}`,
            "callee: yes that is right",
            "caller: On which day will you come?",
            "callee: on monday please",
            "caller: How many people will come?",
            "callee: we are two people",
            `caller: ${APPOINTMENT.text}`,
          ]);
        });

        test("falls silent in the recording when interrupted, and remembers only the words heard", async () => {
          const { transcript, heard, events } = await converse("dora", INTERRUPTING_NUMBER, "Greet them at length.");
          const speech = events.find(({ type }) => type === "callee_speech");
          const silentMs = firstSilence(heard.samples, heard.sampleRate, 400);
          const latencyMs = silentMs - (speech?.data.start_ms as number);
          expect(latencyMs).toBeGreaterThan(100);
          // The threshold is 200 ms; a busy machine adds to it.
          expect(latencyMs).toBeLessThan(500);
          const [greeting, words] = transcript;
          expect(LONG_GREETING.startsWith(greeting!.text)).toBe(true);
          expect(greeting!.text.length).toBeLessThan(LONG_GREETING.length / 2);
          expect(words?.speaker).toBe("callee");
          const nextChat = fake.chats.findLast(({ messages }) => messages.at(-1)?.content === words!.text);
          expect(nextChat?.messages.at(-2)).toEqual({ role: "assistant", content: `${greeting!.text} …` });
        });
      });

      test("ends as agent_failed after a spoken apology if the model refuses", async () => {
        fake.failChat({ status: 401 });
        const client = await server.as("bob");
        const { id } = await client.call((await client.activeInstance()).id, {
          type: "DYNAMIC_AGENT",
          agent: { instructions: ["Tell them when their appointment is."] },
        });
        const { status, outcome } = await client.waitForCall(id);
        expect([status, outcome?.reason]).toEqual(["FAILED", "agent_failed"]);
        expect(outcome?.detail).toContain("401");
        expect(outcome?.heard_ms).toBeGreaterThan(2_000);
      });
    });
  },
);

describe("the model server's fake", () => {
  const openai = new OpenAI({ baseURL: fake.baseUrl, apiKey: API_KEY, maxRetries: 0 });
  const request = (content: string) =>
    ({
      model: "m",
      messages: [{ role: "user", content }],
      tools: [{ type: "function", function: { name: "hang_up", parameters: { type: "object", properties: {} } } }],
    }) as const;

  test("streams text and tool calls to the vendor's own client", async () => {
    const stream = openai.chat.completions.stream({
      ...request(SIMULATED.heard),
      tools: [...request("").tools],
      messages: [...request(SIMULATED.heard).messages],
    });
    const { choices, usage } = await stream.finalChatCompletion();
    expect(choices[0]?.message.content).toBe(APPOINTMENT.text);
    expect(choices[0]?.message.tool_calls).toMatchObject([{ function: { name: "hang_up", arguments: "{}" } }]);
    expect(usage?.total_tokens).toBe(15);
  });

  test("raises the vendor's own error for a wrong key", async () => {
    const wrongKeyClient = new OpenAI({ baseURL: fake.baseUrl, apiKey: "sk-wrong", maxRetries: 0 });
    const completion = wrongKeyClient.chat.completions.create({
      model: "m",
      messages: [{ role: "user", content: "x" }],
      stream: true,
    });
    await expect(completion).rejects.toThrow(AuthenticationError);
  });
});
