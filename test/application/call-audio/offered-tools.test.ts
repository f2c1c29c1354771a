import { describe, expect, test } from "vitest";
import { offeredTools } from "../../../src/application/call-audio/agents/offered-tools.ts";
import { guardedTools } from "../../../src/application/port-guards/guarded-agent.ts";
import type { Creation } from "../../../src/application/use-cases.ts";
import type { Call } from "../../../src/domain/calls/call.ts";
import type { EventData } from "../../../src/domain/events.ts";
import { type AgentTool, type OfferedTool, type ToolContext, ToolFailed } from "../../../src/ports/agent-tool.ts";
import type { Agent } from "../../../src/ports/conversation.ts";
import { ALICE, NUMBER, World } from "../../support/application.ts";

const PEOPLE = {
  type: "object",
  properties: { people: { type: "integer", minimum: 1 } },
  required: ["people"],
  additionalProperties: false,
};
const CALL = { id: "call_1", message: { type: "DYNAMIC_AGENT" as const, instructions: [] } };
const VALID_INPUT = '{"people":3}';

interface Scene {
  readonly world: World;
  readonly tool: OfferedTool;
  readonly uses: EventData["tool_used"][];
  readonly scope: AbortController;
  readonly inputs: unknown[];
}

async function offerTool(run: AgentTool["run"], options: Partial<AgentTool> = {}): Promise<Scene> {
  const world = await World.start();
  const uses: EventData["tool_used"][] = [];
  const inputs: unknown[] = [];
  const scope = new AbortController();
  const tool: AgentTool = {
    name: "book",
    description: "Books a table.",
    parameters: PEOPLE,
    run: (input, context) => {
      inputs.push(input);
      return run(input, context);
    },
    ...options,
  };
  const [first] = offeredTools(
    { ...world.context, agentTools: guardedTools([tool], world.context) },
    CALL,
    scope.signal,
    (use) => uses.push(use),
  );
  return { world, tool: first!, uses, scope, inputs };
}

const hangForever = () => new Promise<never>(() => {});

describe("a tool that an agent uses", () => {
  test("gets checked input and returns JSON", async () => {
    const { world, tool, uses, inputs } = await offerTool(async () => ({ table: 4, name: "Zoë 👋" }));
    expect(await tool.run(VALID_INPUT)).toBe('{"table":4,"name":"Zoë 👋"}');
    expect(inputs).toEqual([{ people: 3 }]);
    expect(uses).toEqual([{ tool: "book", ms: 0, fault: null }]);
    await world.stop();
  });

  test.for([
    ["{", "the input is not JSON"],
    ["[]", "the input must be a JSON object"],
    ["null", "the input must be a JSON object"],
    ['{"people":"3"}', "/people must be an integer"],
    ['{"people":0,"name":"x"}', "/people must be at least 1; /name must be omitted"],
    ["{}", "/people is missing"],
    [`{"people":3,"x":"${"x".repeat(20_000)}"}`, "the input has 20019 characters, at most 20000 are allowed"],
  ])("does not run for the input %s", async ([input, fault]) => {
    const { world, tool, uses, inputs } = await offerTool(async () => 1);
    expect(await tool.run(input!)).toBe(`error: ${fault}`);
    expect(inputs).toEqual([]);
    expect(uses).toEqual([{ tool: "book", ms: 0, fault: "input_invalid" }]);
    await world.stop();
  });

  test("reports ToolFailed's message to the model, but no other error's", async () => {
    const errors = [new ToolFailed("the restaurant is closed"), new Error("postgres://root:secret@db refused")];
    const { world, tool, uses } = await offerTool(async () => {
      throw errors.shift();
    });
    expect(await tool.run(VALID_INPUT)).toBe("error: the restaurant is closed");
    expect(await tool.run(VALID_INPUT)).toBe("error: the tool failed");
    expect(uses.map(({ fault }) => fault)).toEqual(["failed", "failed"]);
    await world.stop();
  });

  test("reports a failure if it throws at once", async () => {
    const { world, tool } = await offerTool(() => {
      throw "a string";
    });
    expect(await tool.run(VALID_INPUT)).toBe("error: the tool failed");
    await world.stop();
  });

  test("fails if its schema has an invalid pattern", async () => {
    const parameters = { type: "object", properties: { people: { type: "string", pattern: "(" } } };
    const { world, tool, inputs } = await offerTool(async () => ({}), { parameters });
    expect(await tool.run('{"people":"3"}')).toMatch(/failed/);
    expect(inputs).toEqual([]);
    await world.stop();
  });

  test("is aborted after 10 s, or its own time limit", async () => {
    const signals: AbortSignal[] = [];
    const wait = (_: unknown, { signal }: ToolContext) => {
      signals.push(signal);
      return hangForever();
    };
    for (const [timeoutMs, ms] of [
      [undefined, 10_000],
      [500, 500],
    ] as const) {
      const { world, tool, uses } = await offerTool(wait, { timeoutMs });
      const pendingResult = tool.run(VALID_INPUT);
      await world.system.advance(ms - 1);
      expect([uses, signals.at(-1)?.aborted]).toEqual([[], false]);
      await world.system.advance(1);
      expect(await pendingResult).toBe(`error: no result within ${ms} ms`);
      expect(uses).toEqual([{ tool: "book", ms, fault: "timeout" }]);
      expect(signals.at(-1)?.aborted).toBe(true);
      await world.stop();
    }
  });

  test("ends with its call", async () => {
    const { world, tool, uses, scope } = await offerTool(hangForever);
    const pendingResult = tool.run(VALID_INPUT);
    scope.abort();
    expect(await pendingResult).toBe("error: the call has ended");
    expect(await tool.run(VALID_INPUT)).toBe("error: the call has ended");
    expect(uses.map(({ fault }) => fault)).toEqual(["call_over", "call_over"]);
    await world.stop();
  });

  test.for([
    ["10 MB", "x".repeat(10_000_000), "the result has 10000002 characters, at most 16000 are allowed"],
    ["a BigInt", 1n, "the result of the tool is not JSON"],
    ["a function", () => 1, "the result of the tool is not JSON"],
  ] as const)("may not return %s", async ([, result, fault]) => {
    const { world, tool, uses } = await offerTool(async () => result);
    expect(await tool.run(VALID_INPUT)).toBe(`error: ${fault}`);
    expect(uses[0]?.fault).toBe("result_invalid");
    await world.stop();
  });

  test("may be used 200 times on a call", async () => {
    const { world, tool, uses } = await offerTool(async () => undefined);
    for (let use = 0; use < 200; use++) expect(await tool.run(VALID_INPUT)).toBe("null");
    expect(await tool.run(VALID_INPUT)).toBe("error: tools were used 200 times on this call, which is the limit");
    expect(uses.at(-1)?.fault).toBe("too_many");
    await world.stop();
  });
});

describe("an agent call with tools", () => {
  const tool = (name: string): AgentTool => ({
    name,
    description: "x",
    parameters: { type: "object" },
    run: async () => name,
  });

  /** An agent that uses all of its tools, and hangs up for a reason. */
  const toolUser: Agent = {
    name: "user",
    check() {},
    begin: ({ tools = [] }) => ({
      async *reply() {
        const results = await Promise.all(tools.map((offeredTool) => offeredTool.run("{}")));
        yield { type: "say", text: `I used ${results.join(" and ")}.`, interruptible: false };
        yield { type: "hang_up", detail: "it was at its limit" };
      },
    }),
    async close() {},
  };

  async function placeAgentCall(world: World, agent: object): Promise<Call & Creation> {
    const { id: instanceId } = await world.activeInstance();
    const body = { instanceId, type: "DYNAMIC_AGENT", target: { phoneNumber: NUMBER } };
    const call = await world.app.calls.create(ALICE, { ...body, agent: { instructions: ["x"], ...agent } });
    await world.system.settle();
    return call;
  }

  test("may use the tools it names, and its timeline lists each use", async () => {
    const world = await World.start({ agent: toolUser, agentTools: [tool("one"), tool("two"), tool("three")] });
    const call = await placeAgentCall(world, { tools: ["three", "one"] });
    world.leg(call).placed();
    world.leg(call).answer();
    await world.system.advance(4_000);
    const [line] = (await world.app.calls.transcripts(ALICE, [call])).get(call.id) ?? [];
    expect(line?.text).toBe('I used "one" and "three".');
    const events = await world.storage.events.ofCall(call.id, {});
    expect(events.filter(({ type }) => type === "tool_used").map(({ data }) => data)).toEqual([
      { tool: "one", ms: 0, fault: null },
      { tool: "three", ms: 0, fault: null },
    ]);
    expect((await world.storedCall(call)).outcome).toMatchObject({
      reason: "agent_finished",
      detail: "it was at its limit",
    });
    await world.stop();
  });

  test("is refused if it names an unknown tool; the error lists the known ones", async () => {
    const world = await World.start({ agent: toolUser, agentTools: [tool("one"), tool("two")] });
    await expect(placeAgentCall(world, { tools: ["one", "tow"] })).rejects.toMatchObject({
      errors: [
        {
          pointer: "/agent/tools",
          code: "value_invalid",
          detail: 'there is no tool "tow"; the tools of this server are one, two',
        },
      ],
    });
    await world.stop();
  });

  test("ends after its maxSeconds at the latest, with 10 s for a goodbye", async () => {
    const inputs: string[] = [];
    const agent: Agent = {
      ...toolUser,
      begin: () => ({
        async *reply({ type }) {
          inputs.push(type);
          yield { type: "listen", forMs: 600_000 };
        },
      }),
    };
    const world = await World.start({ agent });
    const call = await placeAgentCall(world, { maxSeconds: 30 });
    world.leg(call).placed();
    world.leg(call).answer();
    await world.system.advance(20_100);
    expect(inputs).toEqual(["begin", "ending"]);
    await world.system.advance(9_500);
    expect((await world.storedCall(call)).status).toBe("IN_PROGRESS");
    await world.system.advance(1_000);
    expect((await world.storedCall(call)).outcome).toMatchObject({ reason: "max_duration", durationMs: 30_000 });
    await world.stop();
  });
});
