import { describe, expect, test } from "vitest";
import { cascadeAgent } from "../../adapters/agent/cascade/cascade-agent.ts";
import { scriptedAgent } from "../../adapters/agent/scripted/scripted-agent.ts";
import { conversationContract } from "../../src/testing/conversation-contract.ts";
import { openaiServer } from "../support/openai-server.ts";

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
