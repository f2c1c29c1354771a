import type { HeardItem } from "../../../src/ports/audio-conversation.ts";
import type { Remark } from "./realtime-session.ts";

/** Maximum remarks passed to another connection. */
const MAX_REMARKS = 50;
/** Maximum items of the callee whose words may still arrive. */
const MAX_TURNS = 50;

/** The words heard in a call so far, for a connection that replaces a lost one. */
export class SpokenHistory {
  readonly #remarks: { readonly role: Remark["role"]; readonly item: string; text: string }[] = [];
  /** Times at which the callee spoke, ms of their audio, by item. */
  readonly #turns = new Map<string, { startMs: number | undefined; endMs: number | undefined }>();

  /** All remarks, oldest first. */
  get remarks(): readonly Remark[] {
    return this.#remarks.filter(({ text }) => text.trim() !== "").map(({ role, text }) => ({ role, text }));
  }

  /** Adds words or an action of the callee. */
  add(text: string, item = ""): void {
    this.#push({ role: "user", item, text });
  }

  /** Adds words to an item of the agent; returns all words of the item. */
  extend(item: string, delta: string): string {
    const remark = this.#remarks.find((candidate) => candidate.item === item);
    if (remark !== undefined) remark.text += delta;
    else this.#push({ role: "assistant", item, text: delta });
    return remark?.text ?? delta;
  }

  /** Sets the words of an item of the agent; returns them. */
  replace(item: string, text: string): string {
    const remark = this.#remarks.find((candidate) => candidate.item === item);
    if (remark !== undefined) remark.text = text;
    else this.#push({ role: "assistant", item, text });
    return text;
  }

  /** Cuts an item to the part that the callee has heard. */
  cut({ item, text }: HeardItem): void {
    const remark = this.#remarks.find((candidate) => candidate.item === item);
    if (remark !== undefined) remark.text = text === "" ? "" : `${text} …`;
  }

  /** Records the start or end of a callee's turn. */
  turn(item: string, time: { readonly startMs?: number | undefined; readonly endMs?: number | undefined }): void {
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

  #push(remark: { readonly role: Remark["role"]; readonly item: string; text: string }): void {
    this.#remarks.push(remark);
    if (this.#remarks.length > MAX_REMARKS) this.#remarks.shift();
  }
}
