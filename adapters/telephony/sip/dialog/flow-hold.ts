import type { Flow } from "../transport/transport.ts";

/** Keeps the connection open that a far side is reached on; one at a time. */
export class FlowHold {
  #flow: Flow | undefined;
  #letGo: () => void = () => {};

  keep(flow: Flow): void {
    if (flow === this.#flow) return;
    this.letGo();
    this.#flow = flow;
    this.#letGo = flow.hold();
  }

  letGo(): void {
    this.#letGo();
    this.#letGo = () => {};
    this.#flow = undefined;
  }
}
