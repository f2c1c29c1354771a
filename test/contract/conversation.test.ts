import { describe, expect, test } from "vitest";
import { cascadeAgent } from "../../adapters/agent/cascade/cascade-agent.ts";
import { realtimeAgent } from "../../adapters/agent/realtime/realtime-agent.ts";
import { scriptedAgent } from "../../adapters/agent/scripted/scripted-agent.ts";
import { tone } from "../../src/audio/tones/tone.ts";
import { audioAgentContract } from "../../src/testing/audio-agent-contract.ts";
import { conversationContract } from "../../src/testing/conversation-contract.ts";
import { openaiServer } from "../support/openai-server.ts";
import { understandTones } from "../support/understand-tones.ts";

conversationContract(
  "the scripted agent",
  async () => ({
    agent: scriptedAgent(),
    instructions: ["Ask visit: Press 1 or 2.", "If 1: say: Good.", "Ask people for 2 digits: How many?"],
    answers: [..."107"].map((digit) => ({ type: "key", digit }) as const),
    refused: ["Greet the callee."],
    close: async () => {},
  }),
  { describe, test, expect },
);

conversationContract(
  "the agent with a language model",
  async () => {
    const server = await openaiServer({
      understand: () => "",
      answer: ({ messages }) =>
        messages.at(-1)?.content === "yes"
          ? { text: "Goodbye.", calls: [{ name: "hang_up", arguments: {} }] }
          : { text: "Will you come?" },
    });
    return {
      agent: cascadeAgent({ baseUrl: server.baseUrl, model: "some-model" }),
      instructions: ["Ask whether they come."],
      answers: [{ type: "words", text: "yes" }],
      close: () => server.close(),
    };
  },
  { describe, test, expect },
);

audioAgentContract(
  "the agent with an audio model",
  async () => {
    const apiKey = "sk-loopback";
    const server = await openaiServer({
      understand: understandTones,
      apiKey,
      conversation: {
        answer: ({ last, isOutOfBand }) => {
          if (isOutOfBand) return { text: '{"comes":true}' };
          if (last !== "user: tone 880") return { text: "Will you come to the clinic?" };
          return { text: "Goodbye.", calls: [{ name: "hang_up", arguments: {} }] };
        },
      },
    });
    const options = { baseUrl: server.baseUrl, model: "some-model", transcriptionModel: "ears" };
    return {
      agent: realtimeAgent({ ...options, apiKey }),
      instructions: ["Ask whether they come."],
      answer: { sampleRate: 24_000, samples: tone(880, 600, 24_000, 6_000) },
      refused: () => realtimeAgent({ ...options, apiKey: "sk-wrong" }),
      cutOff: () => server.close(),
      close: () => server.close(),
    };
  },
  { describe, test, expect },
);
