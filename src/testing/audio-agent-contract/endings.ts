import type { AudioAgentClause } from "../audio-agent-contract.ts";
import type { ContractRunner } from "../contract-runner.ts";
import { settledWithin } from "../waiting.ts";
import { AudioTalk } from "./audio-talk.ts";

/** Maximum time from the end of a call to that of its conversation, ms. */
const ABORTED_MS = 1_000;
/** Time for stating a result and for noticing a fault, ms. */
const LATE_MS = 40_000;
const SCHEMA = { type: "object" } as const;

/** Clauses about the end of conversations and agents. */
export function agentEndingsContract(clause: AudioAgentClause, expect: ContractRunner["expect"]): void {
  clause("says goodbye and hangs up in time", async (under) => {
    const talk = await AudioTalk.open(under);
    talk.answer();
    await talk.until("listen");
    const from = talk.events.length;
    talk.conversation.ending();
    await talk.until("hang_up");
    expect(talk.spokenMs(from)).toBeGreaterThanOrEqual(100);
    expect(talk.events.at(-1)?.type).toBe("hang_up");
    expect(talk.fault).toBe(undefined);
  });

  clause("leaves a message for a machine, then ends", async (under) => {
    const talk = await AudioTalk.open(under);
    talk.answer();
    await talk.next("audio");
    talk.conversation.interrupted([]);
    talk.conversation.voicemail();
    await talk.until("hang_up");
    const from = talk.events.findIndex((event) => event.type === "reply" && event.to === "voicemail");
    expect(from).toBeGreaterThanOrEqual(0);
    expect(talk.spokenMs(from)).toBeGreaterThanOrEqual(100);
    expect(talk.fault).toBe(undefined);
  });

  clause("leaves a message also after hanging up", async (under) => {
    const talk = await AudioTalk.open(under);
    talk.answer();
    await talk.until("listen");
    talk.conversation.ending();
    await talk.until("hang_up");
    const from = talk.events.length;
    talk.conversation.voicemail();
    await talk.until("hang_up", 2);
    const next = talk.events.slice(from).find(({ type }) => type !== "fault");
    expect(next).toEqual({ type: "reply", to: "voicemail" });
    expect(talk.spokenMs(from)).toBeGreaterThanOrEqual(100);
    expect(talk.fault).toBe(undefined);
  });

  clause("states a result that can be stored as JSON, after it has hung up", async (under) => {
    const talk = await AudioTalk.open(under, { resultSchema: SCHEMA });
    talk.answer();
    await talk.until("listen");
    talk.say(under.answer);
    await talk.until("hang_up");
    await stated(talk);
    expect(talk.events.at(-1)?.type).toBe("hang_up");
  });

  clause("states a result if the callee hangs up in the middle of a sentence", async (under) => {
    const talk = await AudioTalk.open(under, { resultSchema: SCHEMA });
    talk.answer();
    const { item } = await talk.next("audio");
    talk.conversation.interrupted([{ item, heardMs: 20, text: "" }]);
    await stated(talk);
    expect(talk.fault).toBe(undefined);
  });

  clause("ends soon after its call, and ignores later inputs", async (under) => {
    const talk = await AudioTalk.open(under, { resultSchema: SCHEMA });
    const { conversation } = talk;
    talk.answer();
    await talk.next("audio");
    talk.scope.abort(new Error("the call is over"));
    await settledWithin(ABORTED_MS, "The events end", talk.over);
    const events = talk.events.length;
    talk.say(under.answer);
    conversation.interrupted([]);
    conversation.key("1");
    conversation.silence();
    conversation.transferFailed("busy");
    conversation.ending();
    expect(talk.events.length).toBe(events);
    const stating = conversation.report?.({}, talk.scope.signal) ?? Promise.reject(new Error("it states none"));
    const outcome = stating.then(
      () => "stated",
      () => "not stated",
    );
    expect(await settledWithin(ABORTED_MS, "The result is refused", outcome)).toBe("not stated");
  });

  clause("fails with a reason if it cannot continue", async ({ cutOff, ...under }) => {
    if (cutOff === undefined) return;
    const talk = await AudioTalk.open(under);
    talk.answer();
    await talk.until("listen");
    await cutOff();
    talk.conversation.key("1");
    await settledWithin(LATE_MS, "The events end", talk.over);
    expect(talk.fault).toBe(undefined);
    expect(talk.events.at(-1)?.type).toBe("fail");
  });

  clause("ends its conversations when it is closed, and may be closed twice", async (under) => {
    const talk = await AudioTalk.open(under);
    talk.answer();
    await talk.until("listen");
    await under.agent.close();
    await settledWithin(ABORTED_MS, "The events end", talk.over);
  });

  async function stated({ conversation, scope }: AudioTalk): Promise<void> {
    const value =
      conversation.report === undefined
        ? conversation.result
        : await settledWithin(LATE_MS, "The result", conversation.report({}, scope.signal));
    if (value !== undefined) expect(JSON.parse(JSON.stringify(value))).toEqual(value);
  }
}
