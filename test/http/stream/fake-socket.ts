import type { Socket } from "../../../src/ports/web.ts";

/** A WebSocket whose client reads on the test's command. */
export class FakeSocket implements Socket {
  /** The sent messages. */
  readonly sent: (string | Uint8Array)[] = [];
  readonly #unreadMessages: (string | Uint8Array)[] = [];
  #drainCallbacks: (() => void)[] = [];
  closed: { readonly code: number | undefined; readonly reason: string | undefined } | undefined;
  /** True while the client does not read. */
  isStuck = false;
  paused = false;

  send(data: string | Uint8Array): void {
    if (this.closed) return;
    (this.isStuck ? this.#unreadMessages : this.sent).push(data);
  }

  get bufferedAmount(): number {
    return this.#unreadMessages.reduce((sum, { length }) => sum + length, 0);
  }

  drained(): Promise<void> {
    return this.#unreadMessages.length === 0
      ? Promise.resolve()
      : new Promise((resolve) => this.#drainCallbacks.push(resolve));
  }

  close(code?: number, reason?: string): void {
    this.closed ??= { code, reason };
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
  }

  /** Lets the client read everything. */
  async read(): Promise<void> {
    this.isStuck = false;
    this.sent.push(...this.#unreadMessages.splice(0));
    for (const resolve of this.#drainCallbacks.splice(0)) resolve();
    await new Promise((resolve) => setTimeout(resolve));
  }

  /** The sent text messages. */
  get messages(): Record<string, unknown>[] {
    return this.sent.filter((message) => typeof message === "string").map((text) => JSON.parse(text as string));
  }
}
