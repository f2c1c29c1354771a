import { Refusal } from "../../../domain/refusal.ts";
import type { System } from "../../../ports/system.ts";
import type { LiveStream } from "./live-stream.ts";
import type { StreamClient, StreamReservation } from "./stream-client.ts";

/** The one place at a live stream: whoever takes it has it until the client goes, or does not come. */
export class ReservableStream {
  readonly stream: LiveStream;
  readonly #system: System;
  readonly #keptMs: number;
  /** Somebody has taken the place and is not there yet: lets go of it. */
  #giveUp: (() => void) | undefined;
  #cancel: () => void = () => {};

  /** @param keptMs how long the place is kept for a client who does not come, ms */
  constructor(stream: LiveStream, system: System, keptMs: number) {
    this.stream = stream;
    this.#system = system;
    this.#keptMs = keptMs;
  }

  /** Whether a client is there, or is coming. */
  get taken(): boolean {
    return this.#giveUp !== undefined || this.stream.attached;
  }

  /** Takes the place; undefined where somebody has it. */
  take(): StreamReservation | undefined {
    if (this.taken) return undefined;
    const giveUp = (): void => {
      if (this.#giveUp !== giveUp) return;
      this.#leave();
      if (this.stream.unused) this.stream.discard();
    };
    this.#giveUp = giveUp;
    this.#cancel = this.#system.after(this.#keptMs, giveUp);
    return {
      attach: (client) => {
        if (this.#giveUp !== giveUp)
          throw new Refusal("stream_already_attached", "the place at this stream was used, or given up, before");
        if (!canBeHad(client.calleeRate)) {
          giveUp();
          throw new RangeError(`The callee's audio cannot be had at ${client.calleeRate} Hz.`);
        }
        this.#leave();
        return this.stream.attach(client);
      },
      release: giveUp,
    };
  }

  /** The call is over: who has taken the place may still come, and is told. */
  stop(): void {
    this.#cancel();
  }

  /** Nobody is coming any more. */
  #leave(): void {
    this.#cancel();
    this.#giveUp = undefined;
  }
}

function canBeHad(rate: StreamClient["calleeRate"]): boolean {
  return rate === undefined || (Number.isInteger(rate / 50) && rate >= 4_000 && rate <= 192_000);
}
