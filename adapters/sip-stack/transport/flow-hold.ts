import type { Flow } from "./transport.ts";

/** Keeps one flow (RFC 5626) open: the connection that a peer reaches us on. */
export class FlowHold {
  #flow: Flow | undefined;
  #release: () => void = () => {};

  get flow(): Flow | undefined {
    return this.#flow;
  }

  /** Holds this flow in place of the one before. */
  keep(flow: Flow): void {
    if (flow === this.#flow) return;
    this.release();
    this.#flow = flow;
    this.#release = flow.hold();
  }

  release(): void {
    this.#release();
    this.#release = () => {};
    this.#flow = undefined;
  }
}
