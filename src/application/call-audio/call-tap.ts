import type { PlayoutTap } from "../../audio/playout.ts";
import type { FrameSink } from "../../ports/media.ts";

/** Follows the audio of one call. Its methods run within the leg's clock: they do not wait, throw, or keep the array. */
export interface CallTap {
  /** The next frame from the callee. */
  inbound?(frame: Int16Array): void;
  /** What the callee hears next: `length` samples of `samples` from `from` on; without samples, that much silence. */
  outbound?(samples: Int16Array | undefined, from: number, length: number): void;
  /** The call is ending: resolves, within a second, when everything that was understood has been delivered. */
  flush?(): Promise<void>;
}

/** A tap that follows one direction. */
type Following<Direction extends "inbound" | "outbound"> = CallTap & Required<Pick<CallTap, Direction>>;

/** Passes the audio of one leg to each of its taps, in their order. */
export class CallTaps implements FrameSink, PlayoutTap {
  #taps: readonly CallTap[] = [];
  #inbound: readonly Following<"inbound">[] = [];
  #outbound: readonly Following<"outbound">[] = [];

  constructor(taps: readonly CallTap[]) {
    this.#set(taps);
  }

  /** One more tap follows the audio from now on, until the returned function is called. */
  add(tap: CallTap): () => void {
    this.#set([...this.#taps, tap]);
    return () => this.#set(this.#taps.filter((other) => other !== tap));
  }

  /** Whether any tap follows what the callee hears. */
  get followsOutbound(): boolean {
    return this.#outbound.length > 0;
  }

  write(frame: Int16Array): void {
    for (const tap of this.#inbound) tap.inbound(frame);
  }

  played(samples: Int16Array | undefined, from: number, length: number): void {
    for (const tap of this.#outbound) tap.outbound(samples, from, length);
  }

  /** Resolves when each tap has delivered what it understood; undefined if no tap has anything to deliver. */
  flush(): Promise<unknown> | undefined {
    const flushing = this.#taps.flatMap((tap) => tap.flush?.() ?? []);
    return flushing.length === 0 ? undefined : Promise.all(flushing);
  }

  #set(taps: readonly CallTap[]): void {
    this.#taps = taps;
    this.#inbound = taps.filter((tap): tap is Following<"inbound"> => tap.inbound !== undefined);
    this.#outbound = taps.filter((tap): tap is Following<"outbound"> => tap.outbound !== undefined);
  }
}
