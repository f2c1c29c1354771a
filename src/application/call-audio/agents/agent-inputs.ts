import { Queue } from "../../../base/queue.ts";
import type { ConversationInput } from "../../../ports/conversation.ts";

/** Inputs of a call that have no reply yet, in order. */
export class AgentInputs implements AsyncIterable<ConversationInput> {
  readonly #queue = new Queue<{ input: ConversationInput }>();
  /** Unread inputs. */
  readonly #unread: { input: ConversationInput }[] = [];

  /** True if everything has been read. */
  get isEmpty(): boolean {
    return this.#unread.length === 0;
  }

  push(input: ConversationInput): void {
    const latest = this.#unread.at(-1);
    if (input.type === "words" && input.continued && latest?.input.type === "words") {
      // The agent has not seen the previous words: the longer text replaces them.
      latest.input = { ...latest.input, text: input.text };
      return;
    }
    const entry = { input };
    this.#unread.push(entry);
    this.#queue.push(entry);
  }

  close(): void {
    this.#queue.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ConversationInput, void> {
    for await (const entry of this.#queue) {
      this.#unread.splice(this.#unread.indexOf(entry), 1);
      yield entry.input;
    }
  }
}
