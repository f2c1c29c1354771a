import type { System } from "../ports.ts";
import type { Flow } from "./transport.ts";

/** A keep-alive (RFC 5626 section 4.4.1), which every SIP server ignores. */
const DOUBLE_CRLF = new Uint8Array([13, 10, 13, 10]);

/** Sends keep-alives while the flow is held. */
export class KeepAlive {
  readonly #system: System;
  readonly #intervalMs: number;
  readonly #send: (bytes: Uint8Array) => void;
  #holderCount = 0;
  #cancel: (() => void) | undefined;
  #isStopped = false;

  constructor(system: System, intervalMs: number, send: (bytes: Uint8Array) => void) {
    this.#system = system;
    this.#intervalMs = intervalMs;
    this.#send = send;
  }

  get isHeld(): boolean {
    return this.#holderCount > 0;
  }

  hold(): () => void {
    this.#holderCount++;
    if (this.#holderCount === 1) this.#schedule();
    let isHolding = true;
    return () => {
      if (!isHolding) return;
      isHolding = false;
      this.#holderCount--;
      if (this.#holderCount === 0) this.#cancel?.();
    };
  }

  /** Stops permanently, because the flow is closed. */
  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  #schedule(): void {
    if (this.#isStopped) return;
    this.#cancel = this.#system.after(this.#intervalMs, () => {
      this.#send(DOUBLE_CRLF);
      this.#schedule();
    });
  }
}

/** Keeps one flow (RFC 5626) open: the connection on which a peer reaches us. */
export class FlowHold {
  #flow: Flow | undefined;
  #release: () => void = () => {};

  get flow(): Flow | undefined {
    return this.#flow;
  }

  /** Keeps this flow alive instead of the previous one. */
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
