import { Queue } from "../../../src/base/queue.ts";
import type { ConversationInput } from "../../../src/ports/conversation.ts";
import type { ChatPart } from "./chat-messages.ts";

type Words = Extract<ConversationInput, { type: "words" }>;

/**
 * A completion that was requested before it was certain that the callee's turn had ended. Its parts are buffered until
 * they are read.
 */
export class PreparedReply {
  readonly #words: Words;
  readonly #scope = new AbortController();
  readonly #parts = new Queue<ChatPart>();

  /** @param request starts the completion */
  constructor(words: Words, request: (signal: AbortSignal) => AsyncIterable<ChatPart>, signal: AbortSignal) {
    this.#words = words;
    void this.#read(request(AbortSignal.any([signal, this.#scope.signal])));
  }

  get isCancelled(): boolean {
    return this.#scope.signal.aborted;
  }

  /** True if the reply is for these words, ignoring case and punctuation. */
  matches({ text, continued }: Words): boolean {
    return comparable(text) === comparable(this.#words.text) && continued === this.#words.continued;
  }

  /**
   * Yields the parts; buffered parts immediately.
   * @throws the request's error, or the signal's reason
   */
  async *parts(signal: AbortSignal): AsyncGenerator<ChatPart, void> {
    const stop = (): void => {
      this.cancel();
      this.#parts.fail(signal.reason);
    };
    signal.addEventListener("abort", stop, { once: true });
    try {
      signal.throwIfAborted();
      for await (const part of this.#parts) {
        signal.throwIfAborted();
        yield part;
      }
    } finally {
      signal.removeEventListener("abort", stop);
      this.cancel();
    }
  }

  /** Cancels the request. Idempotent. */
  cancel(): void {
    this.#scope.abort(new Error("the callee said something else"));
  }

  async #read(parts: AsyncIterable<ChatPart>): Promise<void> {
    try {
      for await (const part of parts) this.#parts.push(part);
      this.#parts.close();
    } catch (error) {
      this.#parts.fail(error);
    }
  }
}

function comparable(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}
