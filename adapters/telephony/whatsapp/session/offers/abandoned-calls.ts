import { type Timers, within } from "../../../../../src/base/timers.ts";
import type { CallPort, WhatsAppCallListener } from "../../calls/call-port.ts";
import { endAtClient } from "../../calls/end-at-client.ts";
import { isConnected } from "../../calls/is-connected.ts";
import { END_MS } from "../../calls/leg.ts";

/** Delay before a call whose connection does not return is ended, ms; ending it at least closes its audio. */
export const ABANDONED_MS = 10_000;

/** Options of {@link AbandonedCalls}. */
export interface AbandonedCallsOptions {
  readonly system: Timers;
  readonly port: Pick<CallPort, "client" | "calls" | "openCalls">;
  readonly listeners: ReadonlySet<Pick<WhatsAppCallListener, "callId">>;
  /** Called if a call could not be ended. */
  readonly onError: (error: unknown) => void;
}

/**
 * The client's outgoing calls that no leg carries: calls that ended during an outage, or whose end the client did not
 * accept. They are ended over an open connection, so that the callee's phone is notified; a client without one only
 * forgets them, and the session's open calls keep them.
 */
export class AbandonedCalls {
  readonly #options: AbandonedCallsOptions;
  #cancel: (() => void) | undefined;
  readonly #endingCalls = new Set<string>();

  constructor(options: AbandonedCallsOptions) {
    this.#options = options;
  }

  /** Ends the abandoned calls: now if the client is connected, otherwise soon. */
  check(): void {
    const { system, port } = this.#options;
    try {
      if (this.#calls.length === 0) this.stop();
      else if (isConnected(port.client)) this.#end();
      else this.#cancel ??= system.after(ABANDONED_MS, () => this.#end());
    } catch (error) {
      this.#options.onError(error);
    }
  }

  /** True if there are abandoned calls. */
  get hasCalls(): boolean {
    try {
      return this.#calls.length > 0;
    } catch {
      return false; // the client fails; that is reported by the next check
    }
  }

  /** True if the client is ending the call. */
  isEnding(callId: string): boolean {
    return this.#endingCalls.has(callId);
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  get #calls(): string[] {
    const { port, listeners } = this.#options;
    const carriedIds = [...listeners].map(({ callId }) => callId);
    if (carriedIds.includes(undefined)) return []; // a call is being placed, which may be any of them
    const calls = port.calls?.getCalls() ?? [];
    const offeredCalls = calls.filter(
      ({ direction, stateData }) => direction === "outgoing" && isOffered(stateData.state),
    );
    return offeredCalls.map(({ callId }) => callId).filter((callId) => !carriedIds.includes(callId));
  }

  #end(): void {
    this.stop();
    try {
      for (const callId of this.#calls) void this.#endCall(callId).catch(this.#options.onError);
    } catch (error) {
      this.#options.onError(error);
    }
  }

  async #endCall(callId: string): Promise<void> {
    const { system, port } = this.#options;
    if (port.calls === undefined) return;
    this.#endingCalls.add(callId);
    const hangUp = endAtClient(port.client, port.calls, callId).then((hasLeft) => {
      if (hasLeft) port.openCalls.recordTermination(callId);
    });
    const createTimeoutError = (): Error => new Error(`the client did not end the call within ${END_MS} ms`);
    try {
      await within(hangUp, { system, ms: END_MS, timeoutError: createTimeoutError });
    } finally {
      this.#endingCalls.delete(callId);
      void port.openCalls.end(); // ends the call, unless the client has done so
    }
  }
}

/** True if the callee may have the offer. Otherwise its end would arrive before the offer. */
function isOffered(state: string): boolean {
  return state !== "initiating" && state !== "ended";
}
