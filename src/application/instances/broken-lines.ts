import { failCall, type StoredCallsContext } from "../calls/stored-calls.ts";
import type { Context } from "../context.ts";
import { retryUntilStored } from "../retry-until-stored.ts";
import type { Lines } from "./lines.ts";

type BrokenLinesContext = Pick<Context, "log" | "shutdownSignal" | "storage" | "system"> & StoredCallsContext;

/**
 * Fails the calls that wait for a line whose fault needs a person to fix it: their time in the queue would be wasted.
 */
export class BrokenLines {
  readonly #context: BrokenLinesContext;
  readonly #lines: Lines;
  /** Instances whose calls are being failed; true if another check was requested in the meantime. */
  readonly #inProgress = new Map<string, boolean>();

  constructor(context: BrokenLinesContext, lines: Lines) {
    this.#context = context;
    this.#lines = lines;
  }

  /** Fails the waiting calls if the line is broken: called when a call is queued, and when the line breaks. */
  check(instanceId: string): void {
    if (this.#lines.find(instanceId)?.lastingFault === undefined) return;
    const isRunning = this.#inProgress.has(instanceId);
    this.#inProgress.set(instanceId, isRunning);
    if (!isRunning) void this.#failUntilQuiet(instanceId);
  }

  async #failUntilQuiet(instanceId: string): Promise<void> {
    try {
      do {
        this.#inProgress.set(instanceId, false);
        await this.#failWaiting(instanceId);
      } while (this.#inProgress.get(instanceId));
    } catch (error) {
      // The queue timeout fails them instead.
      this.#context.log.warn(
        { instance_id: instanceId, err: error },
        "the failure of calls of a broken line could not be stored",
      );
    }
    this.#inProgress.delete(instanceId);
  }

  async #failWaiting(instanceId: string): Promise<void> {
    const { calls } = this.#context.storage;
    const activeCalls = await retryUntilStored(this.#context, "the list of calls of a broken line", () =>
      calls.active(instanceId),
    );
    for (const call of activeCalls) {
      const fault = this.#lines.find(instanceId)?.lastingFault;
      if (fault === undefined) return;
      if (call.status === "QUEUED" && call.owner === null)
        await failCall(this.#context, call, "instance_offline", fault);
    }
  }
}
