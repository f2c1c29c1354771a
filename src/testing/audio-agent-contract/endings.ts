import type { AudioAgentClause } from "../audio-agent-contract.ts";
import type { ContractRunner } from "../contract-runner.ts";
import { settledWithin } from "../waiting.ts";
import { AudioDialogue } from "./audio-talk.ts";

/** Maximum time from the end of a call to that of its conversation, ms. */
const END_MS = 1_000;
/** Time for stating a result and for noticing a fault, ms. */
const LATE_MS = 40_000;
const SCHEMA = { type: "object" } as const;

/** Clauses about the end of conversations and agents. */
export function agentEndingsContract(clause: AudioAgentClause, expect: ContractRunner["expect"]): void {
  clause("says goodbye and hangs up in time", async (subject) => {
    const talk = await AudioDialogue.open(subject);
    talk.answer();
    await talk.until("listen");
    const from = talk.events.length;
    talk.conversation.ending();
    await talk.until("hang_up");
    expect(talk.spokenMs(from)).toBeGreaterThanOrEqual(100);
    expect(talk.events.at(-1)?.type).toBe("hang_up");
    expect(talk.fault).toBe(undefined);
  });

  clause("leaves a message for a machine, then ends", async (subject) => {
    const talk = await AudioDialogue.open(subject);
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

  clause("leaves a message also after hanging up", async (subject) => {
    const talk = await AudioDialogue.open(subject);
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

  clause("states a result that can be stored as JSON, after it has hung up", async (subject) => {
    const talk = await AudioDialogue.open(subject, { resultSchema: SCHEMA });
    talk.answer();
    await talk.until("listen");
    talk.say(subject.answer);
    await talk.until("hang_up");
    await expectResult(talk);
    expect(talk.events.at(-1)?.type).toBe("hang_up");
  });

  clause("states a result if the callee hangs up in the middle of a sentence", async (subject) => {
    const talk = await AudioDialogue.open(subject, { resultSchema: SCHEMA });
    talk.answer();
    const { item } = await talk.next("audio");
    talk.conversation.interrupted([{ item, heardMs: 20, text: "" }]);
    await expectResult(talk);
    expect(talk.fault).toBe(undefined);
  });

  clause("ends soon after its call, and ignores later inputs", async (subject) => {
    const talk = await AudioDialogue.open(subject, { resultSchema: SCHEMA });
    const { conversation } = talk;
    talk.answer();
    await talk.next("audio");
    talk.scope.abort(new Error("the call is over"));
    await settledWithin(END_MS, "The events end", talk.end);
    const events = talk.events.length;
    talk.say(subject.answer);
    conversation.interrupted([]);
    conversation.key("1");
    conversation.silence();
    conversation.transferFailed("busy");
    conversation.ending();
    expect(talk.events.length).toBe(events);
    const report = conversation.report?.({}, talk.scope.signal) ?? Promise.reject(new Error("it states none"));
    const outcome = report.then(
      () => "stated",
      () => "not stated",
    );
    expect(await settledWithin(END_MS, "The result is refused", outcome)).toBe("not stated");
  });

  clause("fails with a reason if it cannot continue", async ({ cutOff, ...subject }) => {
    if (cutOff === undefined) return;
    const talk = await AudioDialogue.open(subject);
    talk.answer();
    await talk.until("listen");
    await cutOff();
    talk.conversation.key("1");
    await settledWithin(LATE_MS, "The events end", talk.end);
    expect(talk.fault).toBe(undefined);
    expect(talk.events.at(-1)?.type).toBe("fail");
  });

  clause("ends its conversations when it is closed, and may be closed twice", async (subject) => {
    const talk = await AudioDialogue.open(subject);
    talk.answer();
    await talk.until("listen");
    await subject.agent.close();
    await settledWithin(END_MS, "The events end", talk.end);
  });

  async function expectResult({ conversation, scope }: AudioDialogue): Promise<void> {
    const value =
      conversation.report === undefined
        ? conversation.result
        : await settledWithin(LATE_MS, "The result", conversation.report({}, scope.signal));
    if (value !== undefined) expect(JSON.parse(JSON.stringify(value))).toEqual(value);
  }
}
