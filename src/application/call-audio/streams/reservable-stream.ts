import { Refusal } from "../../../domain/refusal.ts";
import type { System } from "../../../ports/system.ts";
import type { LiveStream } from "./live-stream.ts";
import type { StreamClient, StreamReservation } from "./stream-client.ts";

/** A live stream with a single reservation, which ends when the client leaves or does not attach in time. */
export class ReservableStream {
  readonly stream: LiveStream;
  readonly #system: System;
  readonly #attachMs: number;
  /** Gives up the reservation; set while it is taken and its client is not attached yet. */
  #giveUp: (() => void) | undefined;
  #cancel: () => void = () => {};

  /** @param attachMs time that a reservation waits for its client, ms */
  constructor(stream: LiveStream, system: System, attachMs: number) {
    this.stream = stream;
    this.#system = system;
    this.#attachMs = attachMs;
  }

  /** True if a client is attached, or is expected. */
  get isReserved(): boolean {
    return this.#giveUp !== undefined || this.stream.isAttached;
  }

  /** Reserves the stream; returns undefined if it is already reserved. */
  reserve(): StreamReservation | undefined {
    if (this.isReserved) return undefined;
    const giveUp = (): void => {
      if (this.#giveUp !== giveUp) return;
      this.#settle();
      if (this.stream.isUnused) this.stream.discard();
    };
    this.#giveUp = giveUp;
    this.#cancel = this.#system.after(this.#attachMs, giveUp);
    return {
      attach: (client) => {
        if (this.#giveUp !== giveUp)
          throw new Refusal("stream_already_attached", "this reservation was already used or released");
        if (!isSupportedRate(client.calleeRate)) {
          giveUp();
          throw new RangeError(
            `calleeRate is ${client.calleeRate} Hz: it must be a multiple of 50 from 4000 to 192000`,
          );
        }
        this.#settle();
        return this.stream.attach(client);
      },
      release: giveUp,
    };
  }

  /**
   * Ends the stream with its call. A client with a reservation may still attach: it receives the history and the end.
   */
  stop(): void {
    this.#cancel();
  }

  /** Ends the reservation, which was used or released. */
  #settle(): void {
    this.#cancel();
    this.#giveUp = undefined;
  }
}

function isSupportedRate(rate: StreamClient["calleeRate"]): boolean {
  return rate === undefined || (Number.isInteger(rate / 50) && rate >= 4_000 && rate <= 192_000);
}
