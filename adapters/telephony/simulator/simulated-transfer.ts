import type { MediaClock } from "../../../src/audio/playout/media-clock.ts";
import { PHONE_NUMBER, PHONE_RULE } from "../../../src/domain/numbers/phone-number.ts";
import type { System } from "../../../src/ports/system.ts";
import type { ReleaseCause, TransferOutcome } from "../../../src/ports/telephony.ts";
import { Bridge } from "./bridge.ts";
import type { CalleeActions, SimulatedCallee } from "./callee.ts";

/** Maximum ringing time of the other number, ms. */
const RING_LIMIT_MS = 60_000;

/** Dependencies of a transfer. */
export interface SimulatedTransferOptions {
  readonly system: System;
  /** Factor for the times in the number plan. */
  readonly timeScale: number;
  /** True if the network may transfer the call to a number. Default: any number. */
  readonly mayCall?: ((phoneNumber: string) => Promise<boolean>) | undefined;
  /** Creates the remote end for a number. */
  readonly callee: (to: string, call: CalleeActions) => SimulatedCallee;
}

/**
 * A transfer of a simulated call: the other number rings, according to the number plan or on a phone, and may be
 * answered.
 */
export class SimulatedTransfer implements CalleeActions {
  readonly #outcome = Promise.withResolvers<TransferOutcome>();
  readonly outcome: Promise<TransferOutcome> = this.#outcome.promise;
  #release: () => void = () => {};
  #target: SimulatedCallee | undefined;
  #bridge: Bridge | undefined;
  #state: "ringing" | "answered" | "ended" = "ringing";

  /** @throws {RangeError} if `to` is not an E.164 number */
  constructor(to: string, { system, timeScale, mayCall, callee }: SimulatedTransferOptions, signal: AbortSignal) {
    if (!PHONE_NUMBER.test(to)) throw new RangeError(`the number "${to.slice(0, 40)}" ${PHONE_RULE}`);
    const onAbort = (): void => this.#stop(signal.reason);
    if (signal.aborted) onAbort();
    else {
      const cancelTimer = system.after(RING_LIMIT_MS * timeScale, () => {
        this.#target?.stop("no_answer");
        this.#fail("simulator: no answer");
      });
      signal.addEventListener("abort", onAbort, { once: true });
      this.#release = () => {
        cancelTimer();
        signal.removeEventListener("abort", onAbort);
      };
      void this.#ring(to, mayCall, callee);
    }
  }

  /** Rings the other number, if the call may be transferred there. */
  async #ring(
    to: string,
    mayCall: SimulatedTransferOptions["mayCall"],
    callee: SimulatedTransferOptions["callee"],
  ): Promise<void> {
    const isRefused = mayCall !== undefined && !(await mayCall(to));
    if (this.#state !== "ringing") return;
    if (isRefused) return this.#fail(`this call may not go to ${to}`);
    this.#target = callee(to, this);
    this.#target.start();
  }

  /** Cancels the transfer, because the call has ended. */
  cancel(): void {
    this.#stop(new Error("the call ended during the transfer"));
  }

  /**
   * Connects the call's callee with the number that has answered. Returns undefined if it has not answered, or if both
   * are scripts, which would never end the call.
   */
  connect(callee: SimulatedCallee, clock: MediaClock, frameLength: number): Bridge | undefined {
    const target = this.#target;
    if (this.#state !== "answered" || target === undefined || !(callee.isAttended || target.isAttended))
      return undefined;
    this.#bridge = new Bridge(clock, callee, target, frameLength);
    return this.#bridge;
  }

  /** @internal the actions of the other number */
  ring(): void {}

  /** @internal */
  answer(): void {
    if (this.#state !== "ringing") return;
    this.#state = "answered";
    this.#release();
    this.#outcome.resolve({ type: "accepted", detail: "simulator: answered" });
  }

  /** @internal */
  end(cause: ReleaseCause, detail: string): void {
    const target = this.#target;
    if (this.#bridge && target) this.#bridge.end(target, cause);
    else {
      target?.stop(cause);
      this.#fail(detail);
    }
  }

  /** @internal No effect: the caller's line is no longer part of the call. */
  loseLine(): void {}

  #fail(detail: string): void {
    this.#state = "ended";
    this.#release();
    this.#outcome.resolve({ type: "failed", detail });
  }

  #stop(reason: unknown): void {
    this.#state = "ended";
    this.#release();
    this.#target?.stop("released");
    this.#outcome.reject(reason);
  }
}
