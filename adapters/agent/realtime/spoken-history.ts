import type { HeardItem } from "../../../src/ports/audio-conversation.ts";
import type { HistoryMessage } from "./realtime-session.ts";

/** Maximum number of messages passed to another connection. */
const MAX_MESSAGES = 50;
/** Maximum number of the callee's turns whose words may still arrive. */
const MAX_TURNS = 50;

/** The words heard in a call so far, for a connection that replaces a lost one. */
export class SpokenHistory {
  readonly #messages: { readonly role: HistoryMessage["role"]; readonly item: string; text: string }[] = [];
  /** Times at which the callee spoke, in ms of the callee's audio, by item. */
  readonly #turns = new Map<string, { startMs: number | undefined; endMs: number | undefined }>();

  /** All messages, oldest first. */
  get messages(): readonly HistoryMessage[] {
    return this.#messages.filter(({ text }) => text.trim() !== "").map(({ role, text }) => ({ role, text }));
  }

  /** Adds the callee's words, or an action of the callee. */
  add(text: string, item = ""): void {
    this.#push({ role: "user", item, text });
  }

  /** Adds words to one of the agent's items; returns all of that item's words. */
  extend(item: string, delta: string): string {
    const message = this.#messages.find((candidate) => candidate.item === item);
    if (message !== undefined) message.text += delta;
    else this.#push({ role: "assistant", item, text: delta });
    return message?.text ?? delta;
  }

  /** Sets the words of one of the agent's items; returns them. */
  replace(item: string, text: string): string {
    const message = this.#messages.find((candidate) => candidate.item === item);
    if (message !== undefined) message.text = text;
    else this.#push({ role: "assistant", item, text });
    return text;
  }

  /** Cuts an item to the part that the callee has heard. */
  cut({ item, text }: HeardItem): void {
    const message = this.#messages.find((candidate) => candidate.item === item);
    if (message !== undefined) message.text = text === "" ? "" : `${text} …`;
  }

  /** Records the start or end of a callee's turn. */
  recordTurn(item: string, time: { readonly startMs?: number | undefined; readonly endMs?: number | undefined }): void {
    this.#turns.set(item, { startMs: undefined, endMs: undefined, ...this.#turns.get(item), ...time });
    for (const oldest of this.#turns.keys()) {
      if (this.#turns.size <= MAX_TURNS) break;
      this.#turns.delete(oldest);
    }
  }

  /** Known times of a callee's turn. */
  timesOf(item: string): { readonly startMs: number | undefined; readonly endMs: number | undefined } {
    return this.#turns.get(item) ?? { startMs: undefined, endMs: undefined };
  }

  #push(message: { readonly role: HistoryMessage["role"]; readonly item: string; text: string }): void {
    this.#messages.push(message);
    if (this.#messages.length > MAX_MESSAGES) this.#messages.shift();
  }
}
