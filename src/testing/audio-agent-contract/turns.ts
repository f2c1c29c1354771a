import type { AudioAgentClause } from "../audio-agent-contract.ts";
import type { ContractRunner } from "../contract-runner.ts";
import { AudioDialogue } from "./audio-talk.ts";

/** Characters that a callee may press. */
const KEYS = "0123456789*#ABCD";

/** Clauses about turns between agents and callees. */
export function turnsContract(clause: AudioAgentClause, expect: ContractRunner["expect"]): void {
  clause("replies to the callee, and hangs up last", async (subject) => {
    const talk = await AudioDialogue.open(subject);
    talk.answer();
    await talk.until("listen");
    const from = talk.events.length;
    talk.say(subject.answer);
    await talk.until("hang_up");
    expect(talk.fault).toBe(undefined);
    const types = talk.events.slice(from).map(({ type }) => type);
    expect(types.filter((type) => type === "speech_started").length).toBe(1);
    expect(types.indexOf("reply")).toBeGreaterThanOrEqual(types.indexOf("speech_stopped"));
    expect(talk.events.find((event, at) => at >= from && event.type === "reply")).toEqual({
      type: "reply",
      to: "words",
    });
    expect(talk.spokenMs(from)).toBeGreaterThanOrEqual(100);
    expect(types.at(-1)).toBe("hang_up");
    if (subject.agent.transcribes) await talk.until("callee_words");
  });

  clause("replies to a key", async (subject) => {
    const talk = await AudioDialogue.open(subject);
    talk.answer();
    await talk.until("listen");
    const from = talk.events.length;
    talk.conversation.key("1");
    await talk.until("item_end", talk.count("item_end") + 1);
    expect(talk.events.slice(from).find(({ type }) => type === "reply")).toEqual({ type: "reply", to: "key" });
    expect(talk.spokenMs(from)).toBeGreaterThanOrEqual(100);
    expect(talk.fault).toBe(undefined);
  });

  clause("continues with another reply after an interruption by the callee", async (subject) => {
    const talk = await AudioDialogue.open(subject);
    talk.answer();
    const { item } = await talk.next("audio");
    talk.conversation.interrupted([{ item, heardMs: 20, text: "" }]);
    talk.conversation.key("1");
    await talk.until("reply", 2);
    const from = talk.events.findLastIndex(({ type }) => type === "reply");
    await talk.until("listen");
    const spokenItems = talk.events.slice(from).flatMap((event) => (event.type === "audio" ? [event.item] : []));
    expect(spokenItems.length).toBeGreaterThanOrEqual(1);
    expect(spokenItems.includes(item)).toBe(false);
    expect(talk.fault).toBe(undefined);
  });

  clause("replies to silence", async (subject) => {
    const talk = await AudioDialogue.open(subject);
    talk.answer();
    await talk.until("listen");
    const from = talk.events.length;
    talk.conversation.silence();
    await talk.until("item_end", talk.count("item_end") + 1);
    expect(talk.events.slice(from).find(({ type }) => type === "reply")).toEqual({ type: "reply", to: "silence" });
    expect(talk.fault).toBe(undefined);
  });

  clause("survives unexpected inputs", async (subject) => {
    const talk = await AudioDialogue.open(subject);
    const { conversation } = talk;
    talk.answer();
    await talk.until("listen");
    conversation.transferFailed("there was none");
    conversation.interrupted([]);
    conversation.interrupted([{ item: "unknown", heardMs: 1_000, text: "\u0000 👋" }]);
    conversation.hear(new Uint8Array(0));
    for (const digit of KEYS) conversation.key(digit);
    const from = talk.events.length;
    conversation.key("1");
    await talk.until("listen", talk.count("listen") + 1);
    expect(talk.spokenMs(from)).toBeGreaterThanOrEqual(100);
    expect(talk.fault).toBe(undefined);
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
