import { AgentUnavailable } from "../../ports/conversation.ts";
import type { AudioAgentClause } from "../audio-agent-contract.ts";
import type { ContractRunner } from "../contract-runner.ts";
import { settledWithin } from "../waiting.ts";
import { AudioDialogue } from "./audio-dialogue.ts";

/** Time to wait for speech that is too early, ms. */
const EARLY_MS = 300;
/** Maximum time for a refusal, ms. */
const REFUSAL_MS = 30_000;
/** Mean square of audible audio. */
const AUDIBLE_ENERGY = 100 ** 2;

/** Clauses about the beginning of agents and conversations. */
export function beginningsContract(clause: AudioAgentClause, expect: ContractRunner["expect"]): void {
  clause("has a name for logs and events", async ({ agent }) => {
    expect(/^[a-z][a-z0-9_-]*$/.test(agent.name)).toBe(true);
    expect(agent.kind).toBe("audio");
  });

  clause("accepts instructions that it can conduct", async ({ agent, instructions }) => {
    agent.check({ callId: "call_contract", instructions, language: "en-US", hearsWords: false });
  });

  clause("opens no conversation that it cannot conduct, and states the reason", async ({ refused, ...subject }) => {
    if (refused === undefined) return;
    const agent = refused();
    const opening = AudioDialogue.open({ ...subject, agent }).catch((error: unknown) => error);
    const fault = await settledWithin(REFUSAL_MS, "The refusal", opening).finally(() => agent.close());
    expect(fault instanceof AgentUnavailable).toBe(true);
    expect((fault as Error).message.length).toBeGreaterThanOrEqual(10);
  });

  clause("opens no conversation of an ended call", async ({ agent, instructions }) => {
    const brief = { callId: "call_contract", instructions, language: "en-US", hearsWords: false };
    const opening = agent.open(brief, AbortSignal.abort(new Error("the call has ended"))).then(
      () => "opened",
      () => "refused",
    );
    expect(await settledWithin(REFUSAL_MS, "The refusal", opening)).toBe("refused");
  });

  clause("does nothing before the callee answers", async (subject) => {
    const dialogue = await AudioDialogue.open(subject);
    await new Promise((resolve) => setTimeout(resolve, EARLY_MS));
    expect(dialogue.events.map(({ type }) => type)).toEqual([]);
  });

  for (const format of ["pcmu", "pcma", "pcm"] as const)
    clause(`begins with audible ${format}, then listens`, async (subject) => {
      const dialogue = await AudioDialogue.open(subject);
      dialogue.answer(format);
      await dialogue.until("listen");
      expect(dialogue.fault).toBe(undefined);
      expect(dialogue.events.find(({ type }) => type !== "fault")).toEqual({ type: "reply", to: "begin" });
      expect(dialogue.count("item_end")).toBeGreaterThanOrEqual(1);
      expect(dialogue.spokenMs()).toBeGreaterThanOrEqual(100);
      expect(dialogue.spokenMs()).toBeLessThanOrEqual(60_000);
      const samples = dialogue.samples();
      expect(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length).toBeGreaterThanOrEqual(
        AUDIBLE_ENERGY,
      );
    });

  clause("waits for the callee if it should not speak first", async (subject) => {
    const dialogue = await AudioDialogue.open(subject, { firstMessage: null });
    dialogue.answer();
    await dialogue.until("listen");
    expect(dialogue.count("audio")).toBe(0);
    dialogue.say(subject.answer);
    await dialogue.until("item_end");
    expect(dialogue.fault).toBe(undefined);
  });
}
