import { describe, expect, test } from "vitest";
import { scriptedAgent } from "../../../adapters/agent/scripted/scripted-agent.ts";
import type { Call, CallResult } from "../../../src/domain/calls/call.ts";
import { callView } from "../../../src/http/views/call-view.ts";
import type { Agent, Conversation } from "../../../src/ports/conversation.ts";
import { World } from "../../support/application.ts";

const SCHEMA = { type: "object", properties: { day: { type: "string" } }, required: ["day"] };
type Report = NonNullable<Conversation["report"]>;
/** Takes 400 ms to speak. */
const GOODBYE = "Goodbye.";

/** An agent that says goodbye immediately, or waits, and reports the test's results. */
function reporter(report: Report, shouldWait = false): Agent {
  return {
    name: "reporter",
    check() {},
    begin: () => ({
      async *reply() {
        if (shouldWait) yield { type: "listen", forMs: 60_000 };
        else {
          yield { type: "say", text: GOODBYE, interruptible: false };
          yield { type: "hang_up" };
        }
      },
      report,
    }),
    async close() {},
  };
}

async function startConversation(agent: Agent, instructions = ["x"]): Promise<{ world: World; call: Call }> {
  const world = await World.start({ agent });
  const { call } = await world.answeredAgentCall({ instructions, resultSchema: SCHEMA });
  return { world, call };
}

describe("the result of a call with a schema", () => {
  test("is reported during the goodbye and stored when the call ends", async () => {
    const { world, call } = await startConversation(reporter(async () => ({ day: "Monday" })));
    await world.system.advance(1_500);
    expect(await world.storedCall(call)).toMatchObject({
      status: "COMPLETED",
      result: { day: "Monday" },
    });
    expect(await world.eventTypes(call)).toEqual([
      ...["queued", "ringing", "answered", "agent_started", "result_ready", "completed"],
    ]);
    await world.stop();
  });

  test("never delays the end; it follows later if the callee hangs up first", async () => {
    let resolveReport = (_: unknown): void => {};
    const report = new Promise<unknown>((resolve) => {
      resolveReport = resolve;
    });
    const { world, call } = await startConversation(reporter(() => report, true));
    world.leg(call).end("callee_hung_up");
    await world.system.advance(1_500);
    const endedCall = await world.storedCall(call);
    expect(endedCall).toMatchObject({ status: "COMPLETED", resultError: expect.stringContaining("not known yet") });
    expect(endedCall.result).toBeUndefined();
    resolveReport({ day: "Monday" });
    await world.system.advance(100);
    expect(await world.storedCall(call)).toMatchObject({ status: "COMPLETED", result: { day: "Monday" } });
    expect((await world.storedCall(call)).resultError ?? null).toBeNull();
    expect((await world.eventTypes(call)).slice(-2)).toEqual(["completed", "result_ready"]);
    await world.stop();
  });

  test("is repaired once", async () => {
    const faults: (string | undefined)[] = [];
    const agent = reporter(async ({ fault }) => {
      faults.push(fault);
      return fault === undefined ? { day: 5 } : { day: "Monday" };
    });
    const { world, call } = await startConversation(agent);
    await world.system.advance(1_500);
    expect((await world.storedCall(call)).result).toEqual({ day: "Monday" });
    expect(faults).toEqual([undefined, "the result does not match resultSchema: /day must be a string"]);
    await world.stop();
  });

  const faultyReports: readonly (readonly [string, Report, string])[] = [
    ["not an object", async () => "Monday", "the result does not match resultSchema: it must be an object"],
    ["wrong twice", async () => ({}), "the result does not match resultSchema: /day is missing"],
    [
      "too long",
      async () => ({ day: "x".repeat(20_000) }),
      "the result has 20010 characters, at most 16000 are allowed",
    ],
    ["a BigInt", async () => ({ day: 5n }), "the agent did not report a result: "],
    [
      "thrown synchronously",
      () => {
        throw new Error("no model");
      },
      "the agent did not report a result: no model",
    ],
    ["a failure", () => Promise.reject(new Error("no model")), "the agent did not report a result: no model"],
  ];

  test.for(faultyReports)("is replaced by the reason: %s", async ([, report, reason]) => {
    const { world, call } = await startConversation(reporter(report));
    await world.system.advance(1_500);
    const storedCall = await world.storedCall(call);
    expect([storedCall.status, storedCall.result]).toEqual(["COMPLETED", undefined]);
    expect(storedCall.resultError).toEqual(expect.stringContaining(reason));
    await world.stop();
  });

  test("is stored in its JSON form", async () => {
    const day = { toJSON: () => "Monday" };
    const { world, call } = await startConversation(reporter(async () => ({ day })));
    await world.system.advance(1_500);
    expect((await world.storedCall(call)).result).toEqual({ day: "Monday" });
    await world.stop();
  });

  test("is abandoned 10 s after the call", async () => {
    const { world, call } = await startConversation(reporter(() => new Promise<never>(() => {}), true));
    world.leg(call).end("callee_hung_up");
    await world.system.advance(9_900);
    expect((await world.storedCall(call)).resultError).toContain("not known yet");
    await world.system.advance(200);
    expect((await world.storedCall(call)).resultError).toBe(
      "the agent did not report a result: it took longer than 10 s after the call",
    );
    await world.stop();
  });

  test("contains the answers to a script's questions", async () => {
    const { world, call } = await startConversation(scriptedAgent(), [
      "Say: This is an automated call.",
      "Ask day: Which day?",
    ]);
    await world.system.advance(3_000);
    world.leg(call).press("1");
    await world.system.advance(3_000);
    expect((await world.storedCall(call)).result).toEqual({ day: "1" });
    await world.stop();
  });
});

describe("a result that cannot be stored", () => {
  const results: readonly (readonly [string, () => unknown, string])[] = [
    ["too long", () => ({ day: "x".repeat(20_000) }), "the result has 20010 characters, at most 16000 are allowed"],
    ["a BigInt", () => ({ day: 5n }), "the agent did not report a result: "],
    ["a list", () => ["Monday"], "the agent did not report a result: conversation.result is an array"],
    [
      "a cyclic object",
      () => {
        const cyclicResult: Record<string, unknown> = {};
        cyclicResult.day = cyclicResult;
        return cyclicResult;
      },
      "the agent did not report a result: ",
    ],
    [
      "a getter that throws",
      () => {
        throw new Error("no database");
      },
      "the agent did not report a result: no database",
    ],
  ];

  function goodbye(result: () => unknown): Agent {
    return {
      name: "goodbye",
      check() {},
      begin: () => ({
        get result() {
          return result() as CallResult;
        },
        async *reply() {
          yield { type: "say", text: GOODBYE, interruptible: false };
          yield { type: "hang_up" };
        },
      }),
      async close() {},
    };
  }

  test.for(results)("is replaced by the reason, and its call ends normally: %s", async ([, result, reason]) => {
    const world = await World.start({ agent: goodbye(result) });
    for (const resultSchema of [undefined, SCHEMA, { type: "object" }]) {
      const { call } = await world.answeredAgentCall({ instructions: ["x"], ...(resultSchema && { resultSchema }) });
      await world.system.advance(1_500);
      const storedCall = await world.storedCall(call);
      expect([storedCall.status, storedCall.result, storedCall.outcome?.reason]).toEqual([
        ...["COMPLETED", undefined, "agent_finished"],
      ]);
      const view = callView(storedCall, () => "http://localhost", new Set(["result"] as const));
      expect(view).toMatchObject({ result: null, result_error: expect.stringContaining(reason) });
    }
    await world.stop();
  });
});
