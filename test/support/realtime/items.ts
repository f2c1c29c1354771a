import type { Json } from "./json.ts";

/** One item of a conversation. */
export interface Item {
  readonly id: string;
  /** Form of the item for clients. */
  wire: Json;
  /** Form of the item in the model's memory: `user: …`, `assistant: …`, `call: …`, `function: …`. */
  line: string;
  /** The model's complete speech in it. */
  text: string;
  /** Length of its audio sent so far, and in total, ms. */
  sentMs: number;
  totalMs: number;
}

/** The items of a conversation, in their order. */
export class Items {
  readonly #items: Item[] = [];

  /** The model's memory, oldest first. */
  get history(): string[] {
    return this.#items.map(({ line }) => line).filter((line) => line !== "");
  }

  /** Last item; null if there is none. */
  get last(): string | null {
    return this.#items.at(-1)?.id ?? null;
  }

  find(id: unknown): Item | undefined {
    return this.#items.find((item) => item.id === id);
  }

  /** Item before another one; null if there is none. */
  before(id: string): string | null {
    return this.#items[this.#items.findIndex((item) => item.id === id) - 1]?.id ?? null;
  }

  /**
   * Adds an item after another one, at the start (`root`), or at the end; returns undefined if the other one is
   * unknown.
   */
  add(id: string, wire: Json, line: string, after?: unknown): Item | undefined {
    const item: Item = { id, wire, line, text: "", sentMs: 0, totalMs: 0 };
    if (after === undefined || after === null) this.#items.push(item);
    else if (after === "root") this.#items.unshift(item);
    else {
      const at = this.#items.findIndex((candidate) => candidate.id === after);
      if (at < 0) return undefined;
      this.#items.splice(at + 1, 0, item);
    }
    return item;
  }

  /** Returns true if it existed. */
  remove(id: unknown): boolean {
    const at = this.#items.findIndex((item) => item.id === id);
    if (at >= 0) this.#items.splice(at, 1);
    return at >= 0;
  }
}
