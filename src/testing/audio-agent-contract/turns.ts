import type { AudioAgentClause } from "../audio-agent-contract.ts";
import type { ContractRunner } from "../contract-runner.ts";
import { AudioDialogue } from "./audio-dialogue.ts";

/** Characters that a callee may press. */
const KEYS = "0123456789*#ABCD";

/** Clauses about turns between agents and callees. */
export function turnsContract(clause: AudioAgentClause, expect: ContractRunner["expect"]): void {
  clause("replies to the callee, and hangs up last", async (subject) => {
    const dialogue = await AudioDialogue.open(subject);
    dialogue.answer();
    await dialogue.until("listen");
    const from = dialogue.events.length;
    dialogue.say(subject.answer);
    await dialogue.until("hang_up");
    expect(dialogue.fault).toBe(undefined);
    const types = dialogue.events.slice(from).map(({ type }) => type);
    expect(types.filter((type) => type === "speech_started").length).toBe(1);
    expect(types.indexOf("reply")).toBeGreaterThanOrEqual(types.indexOf("speech_stopped"));
    expect(dialogue.events.find((event, at) => at >= from && event.type === "reply")).toEqual({
      type: "reply",
      to: "words",
    });
    expect(dialogue.spokenMs(from)).toBeGreaterThanOrEqual(100);
    expect(types.at(-1)).toBe("hang_up");
    if (subject.agent.transcribes) await dialogue.until("callee_words");
  });

  clause("replies to a key", async (subject) => {
    const dialogue = await AudioDialogue.open(subject);
    dialogue.answer();
    await dialogue.until("listen");
    const from = dialogue.events.length;
    dialogue.conversation.key("1");
    await dialogue.until("item_end", dialogue.count("item_end") + 1);
    expect(dialogue.events.slice(from).find(({ type }) => type === "reply")).toEqual({ type: "reply", to: "key" });
    expect(dialogue.spokenMs(from)).toBeGreaterThanOrEqual(100);
    expect(dialogue.fault).toBe(undefined);
  });

  clause("continues with another reply after an interruption by the callee", async (subject) => {
    const dialogue = await AudioDialogue.open(subject);
    dialogue.answer();
    const { item } = await dialogue.next("audio");
    dialogue.conversation.interrupted([{ item, heardMs: 20, text: "" }]);
    dialogue.conversation.key("1");
    await dialogue.until("reply", 2);
    const from = dialogue.events.findLastIndex(({ type }) => type === "reply");
    await dialogue.until("listen");
    const spokenItems = dialogue.events.slice(from).flatMap((event) => (event.type === "audio" ? [event.item] : []));
    expect(spokenItems.length).toBeGreaterThanOrEqual(1);
    expect(spokenItems.includes(item)).toBe(false);
    expect(dialogue.fault).toBe(undefined);
  });

  clause("replies to silence", async (subject) => {
    const dialogue = await AudioDialogue.open(subject);
    dialogue.answer();
    await dialogue.until("listen");
    const from = dialogue.events.length;
    dialogue.conversation.silence();
    await dialogue.until("item_end", dialogue.count("item_end") + 1);
    expect(dialogue.events.slice(from).find(({ type }) => type === "reply")).toEqual({ type: "reply", to: "silence" });
    expect(dialogue.fault).toBe(undefined);
  });

  clause("survives unexpected inputs", async (subject) => {
    const dialogue = await AudioDialogue.open(subject);
    const { conversation } = dialogue;
    dialogue.answer();
    await dialogue.until("listen");
    conversation.transferFailed("there was none");
    conversation.interrupted([]);
    conversation.interrupted([{ item: "unknown", heardMs: 1_000, text: "\u0000 👋" }]);
    conversation.hear(new Uint8Array(0));
    for (const digit of KEYS) conversation.key(digit);
    const from = dialogue.events.length;
    conversation.key("1");
    await dialogue.until("listen", dialogue.count("listen") + 1);
    expect(dialogue.spokenMs(from)).toBeGreaterThanOrEqual(100);
    expect(dialogue.fault).toBe(undefined);
  });

  clause("keeps the conversations of two calls apart", async (subject) => {
    const [first, second] = [await AudioDialogue.open(subject), await AudioDialogue.open(subject)];
    first.answer("pcmu");
    second.answer("pcm");
    await Promise.all([first.until("listen"), second.until("listen")]);
    const eventCount = second.events.length;
    first.say(subject.answer);
    await first.until("hang_up");
    expect(second.events.length).toBe(eventCount);
    expect([first.fault, second.fault]).toEqual([undefined, undefined]);
  });
}
