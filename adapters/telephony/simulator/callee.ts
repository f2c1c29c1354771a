import type { ReleaseCause } from "../../../src/ports/telephony.ts";

/** The remote end of a simulated call: a script, or a phone in a browser. Frames have the leg's rate. */
export interface SimulatedCallee {
  /** True if a person is at the phone, who will end the call. */
  readonly isAttended: boolean;
  /** The call has arrived. Called once. */
  start(): void;
  /** The call has ended, or has been cut off. Idempotent. */
  stop(cause: ReleaseCause): void;
  /** Receives the caller's next frame. Called from the answer on; the array is valid only until this method returns. */
  hear(frame: Int16Array): void;
  /**
   * Fills the whole frame with the callee's next audio; returns the number of samples from the callee, after which the
   * frame is silent.
   */
  read(frame: Int16Array): number;
}

/** Actions of a callee in its call. They have no effect on a call that has ended. */
export interface CalleeActions {
  ring(): void;
  /** @param audio true if the callee will send frames */
  answer(audio: boolean): void;
  end(cause: ReleaseCause, detail: string): void;
  /** Takes the caller's line offline for `ms`. */
  loseLine(ms: number): void;
}
