import type { ConversationInput } from "../../../src/ports/conversation.ts";
import type { ChatMessage, ToolCall } from "./chat-messages.ts";

/** Maximum length of a callee's utterance in a message, characters. */
const MAX_UTTERANCE_LENGTH = 4_000;

/** Inputs that become a message of the user. */
export type ChatInput = Extract<ConversationInput, { type: "begin" | "key" | "words" | "voicemail" }>;

/**
 * The messages of one call. They contain the words that the callee has heard, not everything the model has generated.
 */
export class ChatHistory {
  /** All messages; tool results are added by the tool round. */
  readonly messages: ChatMessage[];
  /** Indexes of the agent's messages added since the callee last spoke. */
  readonly #spokenIndexes: number[] = [];

  /** @param instructions content of the first message, whose role is `system` */
  constructor(instructions: string) {
    this.messages = [{ role: "system", content: instructions }];
  }

  /** Adds an input. */
  add(input: ChatInput): void {
    const { index, user } = this.#messageOf(input);
    this.messages.splice(index, Number.POSITIVE_INFINITY, user);
  }

  /** The messages with the input added. */
  messagesWith(input: ChatInput): ChatMessage[] {
    const { index, user } = this.#messageOf(input);
    return [...this.messages.slice(0, index), user];
  }

  /** Adds the message that the callee has answered, for a call whose first words do not come from the model. */
  addAnswer(): void {
    this.messages.push({ role: "user", content: "[The callee answers the phone.]" });
  }

  /** Adds the agent's words; returns their index. */
  addWords(content: string): number {
    const index = this.messages.push({ role: "assistant", content }) - 1;
    this.#spokenIndexes.push(index);
    return index;
  }

  /** Replaces the agent's words at an index. @param calls the tools called after them */
  replaceWords(index: number, content: string, calls: ToolCall[]): void {
    this.messages[index] = { role: "assistant", content, ...(calls.length > 0 && { tool_calls: calls }) };
  }

  /** Cuts the agent's latest words to the part that the callee heard; the rest becomes `…`. */
  trimToHeard(text: string): void {
    const heardWords = words(text);
    for (const index of this.#spokenIndexes.splice(0)) {
      const message = this.messages[index];
      if (message?.role !== "assistant") continue;
      const spokenWords = words(message.content ?? "");
      const part = heardWords.splice(0, spokenWords.length);
      if (part.length < spokenWords.length) this.messages[index] = { ...message, content: [...part, "…"].join(" ") };
    }
  }

  /** The message for an input, and its index: a continued utterance replaces its earlier words. */
  #messageOf(input: ChatInput): { index: number; user: ChatMessage } {
    const content = wordsOf(input);
    const end = this.messages.length;
    if (input.type !== "words" || !input.continued) return { index: end, user: { role: "user", content } };
    const userIndex = this.messages.findLastIndex(({ role }) => role === "user");
    // The action of a tool cannot be undone.
    const hasActed = this.messages.slice(userIndex).some(({ role }) => role === "tool");
    if (userIndex > 0 && !hasActed) return { index: userIndex, user: { role: "user", content } };
    const previousText = this.messages[userIndex]?.content ?? "";
    return { index: end, user: { role: "user", content: content.slice(previousText.length).trim() || content } };
  }
}

function words(text: string): string[] {
  return text.split(/\s+/).filter(Boolean);
}

/** Text of an input, as a user message. */
function wordsOf(input: ChatInput): string {
  if (input.type === "begin") return "[The callee answers the phone. Begin the conversation.]";
  if (input.type === "voicemail") return "[The beep of a voicemail was heard. Leave your message and hang up.]";
  if (input.type === "key") return `[The callee presses the key ${input.digit}.]`;
  // Brackets mark the callee's actions.
  return input.text.slice(0, MAX_UTTERANCE_LENGTH).replace(/[[\]]/g, "");
}
