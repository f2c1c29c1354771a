import { Queue } from "../../../base/queue.ts";
import type { ConversationInput } from "../../../ports/conversation.ts";

/** Inputs of a call that have no reply yet, in order. */
export class AgentInputs implements AsyncIterable<ConversationInput> {
  readonly #queue = new Queue<{ input: ConversationInput }>();
  readonly #unreadInputs: { input: ConversationInput }[] = [];

  /** True if everything has been read. */
  get isEmpty(): boolean {
    return this.#unreadInputs.length === 0;
  }

  push(input: ConversationInput): void {
    const latest = this.#unreadInputs.at(-1);
    if (input.type === "words" && input.continued && latest?.input.type === "words") {
      // The agent has not seen the previous words: the longer text replaces them.
      latest.input = { ...latest.input, text: input.text };
      return;
    }
    const entry = { input };
    this.#unreadInputs.push(entry);
    this.#queue.push(entry);
  }

  close(): void {
    this.#queue.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ConversationInput, void> {
    for await (const entry of this.#queue) {
      this.#unreadInputs.splice(this.#unreadInputs.indexOf(entry), 1);
      yield entry.input;
    }
  }
}
