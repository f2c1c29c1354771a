import { comparable } from "../../../src/base/comparable.ts";
import { hasWords } from "../../../src/base/has-words.ts";
import { fillPlaceholders } from "../../../src/domain/agents/agent-variables.ts";
import type { AgentBrief, ConversationAction } from "../../../src/ports/conversation.ts";
import type { Phrases } from "../agent-phrases.ts";
import type { Script } from "./script.ts";

/** The spoken texts of a script on one call, with the variables filled in. */
export class ScriptTexts {
  readonly #script: Script;
  readonly #brief: AgentBrief;
  readonly #introduction: string;

  constructor(script: Script, brief: AgentBrief, { introduction }: Phrases) {
    this.#script = script;
    this.#brief = brief;
    this.#introduction = introduction;
  }

  /** Speaks text with its variables filled in, unless no words are left. */
  *say(text: string, interruptible: boolean): Generator<ConversationAction, void> {
    const filledText = fillPlaceholders(text, this.#brief.variables);
    if (hasWords(filledText)) yield { type: "say", text: filledText, interruptible };
  }

  /** Speaks the introduction, unless the first words already introduce the agent, and then the first message. */
  *opening(interruptible: boolean): Generator<ConversationAction, void> {
    const { firstMessage } = this.#brief;
    if (!this.#introducesItself) yield* this.say(this.#introduction, false);
    if (typeof firstMessage === "string") yield* this.say(firstMessage, interruptible);
  }

  /** Leaves everything that needs no answer as a message: the opening, and the script's sentences. */
  *voicemail(): Generator<ConversationAction, void> {
    yield* this.opening(false);
    for (const step of this.#script.steps) if (step.do === "say") yield* this.say(step.text, false);
    yield { type: "hang_up" };
  }

  /** True if the first words introduce the agent. */
  get #introducesItself(): boolean {
    const [first] = this.#script.steps;
    const firstText = first !== undefined && "text" in first ? first.text : "";
    const text = comparable(this.#brief.firstMessage ?? firstText);
    return text.includes(comparable(this.#introduction)) || /\bautomat/.test(text);
  }
}
