import * as v from "valibot";
import { afterEach, describe, expect, test } from "vitest";
import { cascadeAgent } from "../../../adapters/agent/cascade/cascade-agent.ts";
import { agentTool } from "../../../adapters/agent/tools/valibot-tool.ts";
import { offeredTools } from "../../../src/application/call-audio/agents/offered-tools.ts";
import { guardedTools } from "../../../src/application/port-guards/guarded-agent.ts";
import { type AgentTool, ToolFailed } from "../../../src/ports/agent-tool.ts";
import type { Conversation, ConversationInput } from "../../../src/ports/conversation.ts";
import { silentLogger } from "../../../src/ports/logger.ts";
import { realSystem } from "../../../src/ports/system.ts";
import { until } from "../../../src/testing/waiting.ts";
import type { ChatReply } from "../../support/openai-chat.ts";
import { type OpenaiServer, openaiServer } from "../../support/openai-server.ts";

let server: OpenaiServer;
afterEach(() => server.close());

/** A conversation whose model gives these replies and may use these tools. */
async function startConversation(tools: readonly AgentTool[], ...replies: readonly ChatReply[]): Promise<Conversation> {
  const remainingReplies = [...replies];
  server = await openaiServer({
    understand: () => "",
    answer: () => remainingReplies.shift() ?? { text: "Well then." },
  });
  const parts = { system: realSystem, log: silentLogger };
  const context = { ...parts, agentTools: guardedTools(tools, parts) };
  const call = { id: "call_1", message: { type: "DYNAMIC_AGENT" as const, instructions: [] } };
  const callTools = offeredTools(context, call, new AbortController().signal, () => {});
  const agent = cascadeAgent({ baseUrl: server.baseUrl, model: "some-model", timeoutMs: 1_500 });
  const brief = { callId: "call_1", instructions: ["Book a table."], language: "en-US", hearsWords: true };
  return agent.begin({ ...brief, tools: callTools });
}

async function reply(
  conversation: Conversation,
  input: ConversationInput = { type: "begin" },
  signal = new AbortController().signal,
): Promise<string[]> {
  const actions: string[] = [];
  for await (const action of conversation.reply(input, signal))
    actions.push(action.type === "say" ? action.text : action.type === "fail" ? action.detail : action.type);
  return actions;
}

/** Tool results in the model's latest request. */
function results(): (string | null)[] {
  const { messages } = server.chats.at(-1)!;
  return messages.filter(({ role }) => role === "tool").map(({ content }) => content);
}

const book = agentTool({
  name: "book",
  description: "Books a table.",
  input: v.object({ people: v.pipe(v.number(), v.integer(), v.minValue(1)) }),
  run: async ({ people }) => ({ table: `für ${people} 👋` }),
});

/** A tool that runs until the test releases it. */
function pendingTool() {
  let release = (_result: unknown): void => {};
  const result = new Promise<unknown>((resolve) => {
    release = resolve;
  });
  let isStarted = false;
  const run = () => {
    isStarted = true;
    return result;
  };
  const tool = agentTool({ name: "slow", description: "Is slow.", input: v.object({}), run });
  return { tool, release, hasStarted: () => isStarted };
}

describe("a model with tools", () => {
  test("is offered their schemas, uses them, and gets the results under the role `tool`", async () => {
    const calls = [
      { name: "book", arguments: { people: 2 } },
      { name: "book", arguments: { people: 3 } },
    ];
    const conversation = await startConversation([book], { calls }, { text: "It is booked." });
    expect(await reply(conversation)).toEqual(["It is booked.", "listen"]);
    expect(server.chats[0]!.tools).toEqual(["hang_up", "leave_voicemail", "send_dtmf", "book"]);
    expect(server.chats[1]!.messages.slice(2)).toEqual([
      expect.objectContaining({ role: "assistant", tool_calls: expect.any(Array) }),
      { role: "tool", tool_call_id: "call_0", content: '{"table":"für 2 👋"}' },
      { role: "tool", tool_call_id: "call_1", content: '{"table":"für 3 👋"}' },
    ]);
  });

  test("runs one turn's tools concurrently", async () => {
    let finishBoth = (): void => {};
    const bothStarted = new Promise<void>((resolve) => {
      finishBoth = resolve;
    });
    let runningCount = 0;
    const meet = agentTool({
      name: "meet",
      description: "Waits for another.",
      input: v.object({}),
      run: () => (++runningCount === 2 ? finishBoth() : bothStarted),
    });
    const conversation = await startConversation([meet], { calls: [{ name: "meet" }, { name: "meet" }] });
    expect(await reply(conversation)).toEqual(["Well then.", "listen"]);
    expect(results()).toEqual(["null", "null"]);
  });

  test.for([
    [{ name: "book", rawArguments: '{"people": 3' }, "error: the input is not JSON"],
    [{ name: "book", rawArguments: "" }, "error: /people is missing"],
    [{ name: "book", arguments: { people: 0 } }, "error: /people must be at least 1"],
    [{ name: "fly" }, "error: there is no tool fly, only hang_up, leave_voicemail, send_dtmf, book"],
  ] as const)("gets an error for its invalid call %j", async ([call, fault]) => {
    const conversation = await startConversation([book], { calls: [call] });
    expect(await reply(conversation)).toEqual(["Well then.", "listen"]);
    expect(results()).toEqual([fault]);
  });

  test("stays on the call if another tool failed", async () => {
    const failingTool = agentTool({
      name: "full",
      description: "Fails.",
      input: v.object({}),
      run() {
        throw new ToolFailed("no table is free");
      },
    });
    const calls = [{ name: "hang_up" }, { name: "full" }];
    const conversation = await startConversation([failingTool], { text: "Goodbye.", calls }, { text: "I am sorry." });
    expect(await reply(conversation)).toEqual(["Goodbye.", "I am sorry.", "listen"]);
    expect(results()).toEqual(["error: not hung up, because another tool failed", "error: no table is free"]);
  });

  test("is silent for at most 1.5 s, and asks the callee to wait once per turn", async () => {
    const { tool, release } = pendingTool();
    const conversation = await startConversation([tool], { calls: [{ name: "slow" }] }, { calls: [{ name: "slow" }] });
    const startedAt = performance.now();
    const actions: string[] = [];
    for await (const action of conversation.reply({ type: "begin" }, new AbortController().signal)) {
      actions.push(action.type === "say" ? action.text : action.type);
      if (actions.length === 1) expect(performance.now() - startedAt).toBeGreaterThan(1_400);
      release("done");
    }
    expect(actions).toEqual(["One moment, please.", "Well then.", "listen"]);
    expect(server.chats[1]!.messages[2]).toMatchObject({ role: "assistant", content: "One moment, please." });
  });

  test("can be interrupted, and gets its tool's result later", async () => {
    const { tool, release, hasStarted } = pendingTool();
    const conversation = await startConversation(
      [tool],
      { text: "Wait.", calls: [{ name: "slow" }] },
      { text: "Yes?" },
    );
    const scope = new AbortController();
    const pendingReply = reply(conversation, { type: "begin" }, scope.signal);
    await until(5_000, "the tool", hasStarted);
    scope.abort(new Error("interrupted"));
    await expect(pendingReply).rejects.toThrow("interrupted");
    conversation.heard?.("Wait.");
    expect(await reply(conversation, { type: "words", text: "Hello?" })).toEqual(["Yes?", "listen"]);
    expect(results()).toEqual(["it is not finished yet"]);
    release("booked");
    await new Promise(setImmediate); // the result passes through several promises
    await reply(conversation, { type: "words", text: "And?" });
    expect(results()).toEqual(['"booked"']);
    expect(server.chats.at(-1)!.messages.map(({ role }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "user",
      "assistant",
      "user",
    ]);
  });

  test.for([
    ["stall", "the model's server sent nothing for 1500 ms"],
    ["truncate", "the model's server failed: its response was cut off"],
  ] as const)("apologises if its server fails in the middle of a tool call: %s", async ([fault, detail]) => {
    let runs = 0;
    const countedTool = { ...book, run: async () => ++runs };
    const conversation = await startConversation([countedTool], {
      calls: [{ name: "book", arguments: { people: 22 } }],
    });
    server.failChat(fault, fault); // after a silence the request is repeated once
    expect(await reply(conversation)).toEqual(["I am sorry, something went wrong on our side. Goodbye.", detail]);
    expect(runs).toBe(0);
  });
});
