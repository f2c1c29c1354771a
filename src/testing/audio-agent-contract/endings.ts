import type { AudioAgentClause } from "../audio-agent-contract.ts";
import type { ContractRunner } from "../contract-runner.ts";
import { settledWithin } from "../waiting.ts";
import { AudioDialogue } from "./audio-dialogue.ts";

/** Maximum time from the end of a call to the end of its conversation, ms. */
const END_MS = 1_000;
/** Maximum time for reporting a result and for noticing a fault, ms. */
const LATE_MS = 40_000;
const SCHEMA = { type: "object" } as const;

/** Clauses about the end of conversations and agents. */
export function agentEndingsContract(clause: AudioAgentClause, expect: ContractRunner["expect"]): void {
  clause("says goodbye and hangs up in time", async (subject) => {
    const dialogue = await AudioDialogue.open(subject);
    dialogue.answer();
    await dialogue.until("listen");
    const from = dialogue.events.length;
    dialogue.conversation.ending();
    await dialogue.until("hang_up");
    expect(dialogue.spokenMs(from)).toBeGreaterThanOrEqual(100);
    expect(dialogue.events.at(-1)?.type).toBe("hang_up");
    expect(dialogue.fault).toBe(undefined);
  });

  clause("leaves a message for a machine, then ends", async (subject) => {
    const dialogue = await AudioDialogue.open(subject);
    dialogue.answer();
    await dialogue.next("audio");
    dialogue.conversation.interrupted([]);
    dialogue.conversation.voicemail();
    await dialogue.until("hang_up");
    const from = dialogue.events.findIndex((event) => event.type === "reply" && event.to === "voicemail");
    expect(from).toBeGreaterThanOrEqual(0);
    expect(dialogue.spokenMs(from)).toBeGreaterThanOrEqual(100);
    expect(dialogue.fault).toBe(undefined);
  });

  clause("leaves a message even after hanging up", async (subject) => {
    const dialogue = await AudioDialogue.open(subject);
    dialogue.answer();
    await dialogue.until("listen");
    dialogue.conversation.ending();
    await dialogue.until("hang_up");
    const from = dialogue.events.length;
    dialogue.conversation.voicemail();
    await dialogue.until("hang_up", 2);
    const next = dialogue.events.slice(from).find(({ type }) => type !== "fault");
    expect(next).toEqual({ type: "reply", to: "voicemail" });
    expect(dialogue.spokenMs(from)).toBeGreaterThanOrEqual(100);
    expect(dialogue.fault).toBe(undefined);
  });

  clause("reports a result that can be stored as JSON, after it has hung up", async (subject) => {
    const dialogue = await AudioDialogue.open(subject, { resultSchema: SCHEMA });
    dialogue.answer();
    await dialogue.until("listen");
    dialogue.say(subject.answer);
    await dialogue.until("hang_up");
    await expectResult(dialogue);
    expect(dialogue.events.at(-1)?.type).toBe("hang_up");
  });

  clause("reports a result if the callee hangs up in the middle of a sentence", async (subject) => {
    const dialogue = await AudioDialogue.open(subject, { resultSchema: SCHEMA });
    dialogue.answer();
    const { item } = await dialogue.next("audio");
    dialogue.conversation.interrupted([{ item, heardMs: 20, text: "" }]);
    await expectResult(dialogue);
    expect(dialogue.fault).toBe(undefined);
  });

  clause("ends soon after its call, and ignores later inputs", async (subject) => {
    const dialogue = await AudioDialogue.open(subject, { resultSchema: SCHEMA });
    const { conversation } = dialogue;
    dialogue.answer();
    await dialogue.next("audio");
    dialogue.scope.abort(new Error("the call has ended"));
    await settledWithin(END_MS, "The events end", dialogue.end);
    const events = dialogue.events.length;
    dialogue.say(subject.answer);
    conversation.interrupted([]);
    conversation.key("1");
    conversation.silence();
    conversation.transferFailed("busy");
    conversation.ending();
    expect(dialogue.events.length).toBe(events);
    const report = conversation.report?.({}, dialogue.scope.signal) ?? Promise.reject(new Error("it states none"));
    const outcome = report.then(
      () => "stated",
      () => "not stated",
    );
    expect(await settledWithin(END_MS, "The result is refused", outcome)).toBe("not stated");
  });

  clause("fails with a reason if it cannot continue", async ({ cutOff, ...subject }) => {
    if (cutOff === undefined) return;
    const dialogue = await AudioDialogue.open(subject);
    dialogue.answer();
    await dialogue.until("listen");
    await cutOff();
    dialogue.conversation.key("1");
    await settledWithin(LATE_MS, "The events end", dialogue.end);
    expect(dialogue.fault).toBe(undefined);
    expect(dialogue.events.at(-1)?.type).toBe("fail");
  });

  clause("ends its conversations on close; closing is idempotent", async (subject) => {
    const dialogue = await AudioDialogue.open(subject);
    dialogue.answer();
    await dialogue.until("listen");
    await subject.agent.close();
    await settledWithin(END_MS, "The events end", dialogue.end);
  });

  async function expectResult({ conversation, scope }: AudioDialogue): Promise<void> {
    const value =
      conversation.report === undefined
        ? conversation.result
        : await settledWithin(LATE_MS, "The result", conversation.report({}, scope.signal));
    if (value !== undefined) expect(JSON.parse(JSON.stringify(value))).toEqual(value);
  }
}
