import { PHONE_NUMBER } from "../domain/numbers/phone-number.ts";
import {
  type Agent,
  type AgentBrief,
  AgentUnavailable,
  type Conversation,
  type ConversationAction,
  type ConversationInput,
} from "../ports/conversation.ts";
import { clausesOf } from "./contract-clause.ts";
import type { ContractRunner } from "./contract-runner.ts";
import { settledWithin } from "./waiting.ts";

/** The agent under test, new for each test. */
export interface AgentUnderTest {
  readonly agent: Agent;
  /** Instructions that the agent can conduct: it starts with a question and waits for the answer. */
  readonly instructions: readonly string[];
  /** Replies of the callee that complete that call, in order. */
  readonly answers: readonly ConversationInput[];
  /** Instructions that it cannot conduct. Omit it if there are none. */
  readonly refused?: readonly string[];
  /** Called after the agent has been closed. */
  close(): Promise<void>;
}

/** Maximum time for a reply, ms: a longer silence loses the callee. */
const REPLY_MS = 20_000;
/** Maximum time for a reply to end after its signal was aborted, ms. */
const END_MS = 1_000;
/** Maximum length of a text that speech engines accept, characters. */
const MAX_TEXT = 4_096;
/** Characters that a callee may press. */
const KEYS = "0123456789*#ABCD";

/**
 * The contract of the conversation port as tests.
 * @param name title of the group of tests
 * @param factory makes an agent; called once per test
 *
 * @example
 * import { describe, expect, test } from "vitest";
 * conversationContract("my agent", () => freshAgent(), { describe, test, expect });
 */
export function conversationContract(
  name: string,
  factory: () => Promise<AgentUnderTest>,
  { describe, test, expect }: ContractRunner,
): void {
  const clause = clausesOf(test, factory, ({ agent }) => agent);

  describe(`${name} fulfils the conversation contract`, () => {
    clause("has a name for logs and events", async ({ agent }) => {
      expect(/^[a-z][a-z0-9_-]*$/.test(agent.name)).toBe(true);
    });

    clause("accepts instructions that it can conduct", async ({ agent, instructions }) => {
      agent.check(briefOf(instructions));
    });

    clause("refuses other instructions with a reason", async ({ agent, refused }) => {
      if (refused === undefined) return;
      let fault: unknown;
      try {
        agent.check(briefOf(refused));
      } catch (error) {
        fault = error;
      }
      expect(fault instanceof AgentUnavailable).toBe(true);
      expect((fault as Error).message.length).toBeGreaterThanOrEqual(10);
    });

    clause("begins with words, then listens", async ({ agent, instructions }) => {
      const actions = await reply(agent.begin(briefOf(instructions)), { type: "begin" });
      expect(actions[0]?.type).toBe("say");
      expect(actions.at(-1)?.type).toBe("listen");
    });

    clause("replies with speakable texts and positive times", async ({ agent, instructions, answers }) => {
      const conversation = agent.begin(briefOf(instructions));
      for (const input of [BEGIN, ...answers])
        for (const action of await reply(conversation, input)) {
          const fault = faultOf(action);
          expect(fault).toBe(undefined);
        }
    });

    clause("hangs up after the last answer, as its last action", async ({ agent, instructions, answers }) => {
      const actions = await converse(agent.begin(briefOf(instructions)), answers);
      expect(actions.filter(({ type }) => type === "hang_up").length).toBe(1);
      expect(actions.at(-1)?.type).toBe("hang_up");
    });

    clause("keeps the conversations of two calls apart", async ({ agent, instructions, answers }) => {
      const expected = await converse(agent.begin(briefOf(instructions)), answers);
      const [first, second] = [agent.begin(briefOf(instructions)), agent.begin(briefOf(instructions))];
      const actions: ConversationAction[] = [];
      for (const input of [BEGIN, ...answers]) {
        actions.push(...(await reply(first, input)));
        await reply(second, input);
      }
      expect(actions.at(-1)?.type).toBe(expected.at(-1)?.type);
      expect(first.result).toEqual(second.result);
    });

    clause("survives unexpected keys, words, silence and faults", async ({ agent, instructions }) => {
      const conversation = agent.begin(briefOf(instructions));
      const unexpectedInputs: ConversationInput[] = [
        BEGIN,
        ...[...KEYS].map((digit) => ({ type: "key", digit }) as const),
        { type: "words", text: "" },
        { type: "words", text: "\u0000 👋 ".repeat(200) },
        { type: "words", text: "a b", continued: true },
        { type: "unheard", detail: "the engine returned 500" },
        { type: "silence" },
        { type: "fault", of: "transcription", detail: "the engine is unreachable" },
        { type: "ending" },
      ];
      for (const input of unexpectedInputs) {
        const lastType = (await reply(conversation, input)).at(-1)?.type;
        if (lastType === "hang_up" || lastType === "fail") break;
      }
    });

    clause("ends a reply soon after the call has ended", async ({ agent, instructions }) => {
      const scope = new AbortController();
      const conversation = agent.begin(briefOf(instructions));
      const reading = (async () => {
        try {
          for await (const _ of conversation.reply(BEGIN, scope.signal));
        } catch (error) {
          if (!scope.signal.aborted) throw error;
        }
      })();
      scope.abort();
      await settledWithin(END_MS, "the end of the reply", reading);
    });

    clause("has a result that can be stored as JSON", async ({ agent, instructions, answers }) => {
      const conversation = agent.begin(briefOf(instructions));
      await converse(conversation, answers);
      const { result } = conversation;
      if (result !== undefined) expect(JSON.parse(JSON.stringify(result))).toEqual(result);
    });

    clause("may be closed twice", async ({ agent }) => {
      await agent.close();
    });
  });
}

const BEGIN: ConversationInput = { type: "begin" };

function briefOf(instructions: readonly string[]): AgentBrief {
  return { callId: "call_contract", instructions, language: "en-US", hearsWords: true };
}

/** The whole reply; rejects if it takes too long. */
async function reply(conversation: Conversation, input: ConversationInput): Promise<ConversationAction[]> {
  const { signal } = new AbortController();
  const reading = (async () => {
    const actions: ConversationAction[] = [];
    for await (const action of conversation.reply(input, signal)) actions.push(action);
    return actions;
  })();
  return settledWithin(REPLY_MS, `the reply to ${input.type}`, reading);
}

/** All replies of a call. */
async function converse(
  conversation: Conversation,
  answers: readonly ConversationInput[],
): Promise<ConversationAction[]> {
  const actions: ConversationAction[] = [];
  for (const input of [BEGIN, ...answers]) actions.push(...(await reply(conversation, input)));
  return actions;
}

function faultOf(action: ConversationAction): string | undefined {
  if (action.type === "press") return /^[0-9*#A-D]+$/.test(action.keys) ? undefined : `it presses ${action.keys}`;
  if (action.type === "fail") return action.detail === "" ? "it fails for no reason" : undefined;
  if (action.type === "transfer")
    return PHONE_NUMBER.test(action.to) ? undefined : `it transfers to ${action.to}, which is not an E.164 number`;
  if (action.type === "hang_up" || action.type === "resume") return undefined;
  if (action.type === "listen") return action.forMs > 0 ? undefined : `it listens for ${action.forMs} ms`;
  if (action.text.trim() === "") return "a text has no words";
  return [...action.text].length > MAX_TEXT ? `a text has ${action.text.length} characters` : undefined;
}
