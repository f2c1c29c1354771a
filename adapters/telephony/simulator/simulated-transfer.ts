import { PHONE_NUMBER, PHONE_RULE } from "../../../src/domain/phone-number.ts";
import type { System } from "../../../src/ports/system.ts";
import type { TransferOutcome } from "../../../src/ports/telephony.ts";
import { calleeScript } from "./number-plan.ts";

/** How long the other number may ring, ms. */
const RING_LIMIT_MS = 60_000;

/** What a transfer depends on. */
export interface SimulatedTransferOptions {
  readonly system: System;
  /** Factor for the times of the number plan. */
  readonly timeScale: number;
  /** Whether the network may lead the call to a number. */
  readonly mayCall?: ((phoneNumber: string) => boolean) | undefined;
}

/** A transfer of a simulated call: the plan of the other number decides whether and when it answers. */
export class SimulatedTransfer {
  readonly outcome: Promise<TransferOutcome>;
  readonly #cancel: () => void;

  /** @throws {RangeError} if `to` is no E.164 number */
  constructor(to: string, { system, timeScale, mayCall }: SimulatedTransferOptions, signal: AbortSignal) {
    if (!PHONE_NUMBER.test(to)) throw new RangeError(`the number "${to.slice(0, 40)}" ${PHONE_RULE}`);
    const refused = mayCall?.(to) === false;
    const { afterMs, ...outcome } = refused ? notAllowed(to) : planned(to);
    let cancel = (): void => {};
    this.outcome = new Promise((resolve, reject) => {
      const aborted = (): void => {
        cancelTimer();
        reject(signal.reason);
      };
      const cancelTimer = system.after(afterMs * timeScale, () => {
        signal.removeEventListener("abort", aborted);
        resolve(outcome);
      });
      signal.addEventListener("abort", aborted, { once: true });
      if (signal.aborted) aborted();
      cancel = () => {
        cancelTimer();
        signal.removeEventListener("abort", aborted);
        reject(new Error("the call ended during the transfer"));
      };
    });
    this.#cancel = cancel;
  }

  /** The call has ended. */
  cancel(): void {
    this.#cancel();
  }
}

type Planned = TransferOutcome & { readonly afterMs: number };

/** The fate of a call to this number. */
function planned(to: string): Planned {
  let afterMs = 0;
  for (const step of calleeScript(to).steps) {
    if (step.do === "wait") afterMs += step.ms;
    else if (step.do === "answer") return { type: "accepted", detail: "simulator: answered", afterMs };
    else if (step.do === "end") return { type: "failed", detail: step.detail, afterMs };
  }
  return { type: "failed", detail: "simulator: no answer", afterMs: RING_LIMIT_MS };
}

function notAllowed(to: string): Planned {
  return { type: "failed", detail: `this call may not lead to ${to}`, afterMs: 0 };
}
