import { Queue } from "../../../base/queue.ts";
import type { ConversationInput } from "../../../ports/conversation.ts";

/** Inputs of a call that have no reply yet, in order. */
export class AgentInputs implements AsyncIterable<ConversationInput> {
  readonly #queue = new Queue<{ input: ConversationInput }>();
  /** Unread inputs. */
  readonly #unread: { input: ConversationInput }[] = [];

  /** True if everything has been read. */
  get empty(): boolean {
    return this.#unread.length === 0;
  }

  push(input: ConversationInput): void {
    const latest = this.#unread.at(-1);
    if (input.type === "words" && input.continued && latest?.input.type === "words") {
      // The agent has not seen the previous words: the longer text replaces them.
      latest.input = { ...latest.input, text: input.text };
      return;
    }
    const waiting = { input };
    this.#unread.push(waiting);
    this.#queue.push(waiting);
  }

  close(): void {
    this.#queue.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ConversationInput, void> {
    for await (const waiting of this.#queue) {
      this.#unread.splice(this.#unread.indexOf(waiting), 1);
      yield waiting.input;
    }
  }
}
