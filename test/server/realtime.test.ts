import { afterAll, expect, test } from "vitest";
import { tone } from "../../src/audio/tones/tone.ts";
import { openaiServer } from "../support/openai-server.ts";
import { ALL_TARGETS, describeEach, useServer } from "../support/server.ts";
import { expected, until } from "../support/server-client.ts";
import { type Sound, toneShare } from "../support/server-sound.ts";

const API_KEY = "sk-loopback";
/** The model's speech: its tone and length. */
const VOICES: Readonly<Record<string, readonly [hz: number, ms: number]>> = {
  "Good morning. Do you come tomorrow?": [440, 1_200],
  "Until tomorrow, then.": [880, 800],
};
const [QUESTION, GOODBYE] = Object.keys(VOICES) as [string, string];

const fake = await openaiServer({
  understand: () => "yes",
  apiKey: API_KEY,
  conversation: {
    answer: ({ last, isOutOfBand }) => {
      if (isOutOfBand) return { text: '{"comes":true}' };
      return last === "user: yes" ? { text: GOODBYE, calls: [{ name: "hang_up", arguments: {} }] } : { text: QUESTION };
    },
    speak: async (text) => {
      const [hz, ms] = VOICES[text]!;
      return { sampleRate: 24_000, samples: tone(hz, ms, 24_000, 8_000) };
    },
  },
});
afterAll(() => fake.close());

describeEach(ALL_TARGETS, (target) => {
  const server = useServer(target, {
    env: {
      RINGPORT_AGENT_ENGINE: "realtime",
      RINGPORT_AGENT_URL: fake.baseUrl,
      RINGPORT_AGENT_MODEL: "some-model",
      RINGPORT_AGENT_KEY: API_KEY,
      RINGPORT_SIMULATOR_TIME_SCALE: "1",
    },
  });

  test("an audio model asks, gets an answer, says goodbye and reports the result", async () => {
    const client = await server.as("ada");
    const { id } = await client.call((await client.activeInstance()).id, {
      type: "DYNAMIC_AGENT",
      target: { phoneNumber: "+12025550120" }, // replies to questions with words
      agent: {
        instructions: ["Ask whether they come tomorrow."],
        resultSchema: { type: "object", properties: { comes: { type: "boolean" } }, required: ["comes"] },
      },
    });
    expect(await client.waitForCall(id)).toMatchObject({ status: "COMPLETED", outcome: { reason: "agent_finished" } });
    const timeline = () => client.timeline(id);
    const events = await until(
      timeline,
      (items) => items.some(({ type }) => type === "result_ready"),
      10_000,
      "the result",
    );
    const { result, transcript } = expected(200, await client.get(`/v1/calls/${id}?expand=result,transcript`)).json<{
      result: unknown;
      transcript: readonly { readonly text: string; readonly start_ms: number; readonly end_ms: number }[];
    }>();
    expect(result).toEqual({ comes: true });
    expect(transcript.map(({ text }) => text)).toEqual([QUESTION, GOODBYE]);
    const heard = await client.heard(id);
    for (const { text, start_ms: from, end_ms: to } of transcript) {
      const [hz, ms] = VOICES[text]!;
      expect(Math.abs(to - from - ms), text).toBeLessThanOrEqual(40);
      expect(toneShare(part(heard, from + 100, to - 100), hz), text).toBeGreaterThan(0.97);
    }
    expect(events.find(({ type }) => type === "agent_started")?.data).toEqual({ agent: "realtime" });
  });
});

function part({ sampleRate, samples }: Sound, fromMs: number, toMs: number): Sound {
  const sampleAt = (ms: number): number => Math.round((ms * sampleRate) / 1_000);
  return { sampleRate, samples: samples.subarray(sampleAt(fromMs), sampleAt(toMs)) };
}
