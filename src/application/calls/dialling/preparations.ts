import { errorText } from "../../../base/error.ts";
import { within } from "../../../base/timers.ts";
import type { Call } from "../../../domain/calls/call.ts";
import { StorageUnavailable } from "../../../ports/storage.ts";
import { programOf } from "../../call-audio/call-types/all-call-types.ts";
import { type ProgramContext, ProgramFailed } from "../../call-audio/call-types/call-type-program.ts";
import type { PreparedMessage } from "../../call-audio/call-types/prepared-message.ts";
import type { Context } from "../../context.ts";
import { failCall, type StoredCallsContext } from "../stored-calls.ts";

type PreparationsContext = Pick<Context, "log" | "system" | "timings"> & ProgramContext & StoredCallsContext;

/** One line of an instance, which prepares and carries one call at a time. */
export interface Lane {
  readonly instanceId: string;
}

/** The call that a lane dials next, with the beginning of its message. */
interface PreparedCall {
  readonly callId: string;
  /** Undefined for a call without a fixed message. */
  readonly message: PreparedMessage | undefined;
}

interface Preparation {
  readonly call: Call;
  readonly scope: AbortController;
  preparedCall: PreparedCall | undefined;
}

/** Callbacks of {@link Preparations}. */
export interface PreparationsWatcher<L extends Lane> {
  /** Called when the preparation is ready, or its call has failed. */
  onFinished(lane: L): void;
  /** Called when the stored message cannot be read now. */
  onUnavailable(lane: L, error: StorageUnavailable): void;
}

/**
 * Prepares messages of waiting calls: one per lane, before its call is claimed. A call whose message is not ready in
 * time fails before any phone rings. A preparation is not stored; a cancelled preparation leaves its call waiting.
 */
export class Preparations<L extends Lane = Lane> {
  readonly #context: PreparationsContext;
  readonly #watcher: PreparationsWatcher<L>;
  readonly #preparationByLane = new Map<L, Preparation>();
  /** Calls whose failure is being stored. */
  readonly #failures = new Set<Promise<void>>();

  constructor(context: PreparationsContext, watcher: PreparationsWatcher<L>) {
    this.#context = context;
    this.#watcher = watcher;
  }

  /** The call that is being prepared, or is ready. */
  call(lane: L): Call | undefined {
    return this.#preparationByLane.get(lane)?.call;
  }

  /** The call that is ready, if there is one. */
  preparedCall(lane: L): PreparedCall | undefined {
    return this.#preparationByLane.get(lane)?.preparedCall;
  }

  /**
   * Prepares the message of a call, unless the lane has a preparation; a call without a fixed message is ready at once.
   * @param expectedRate the rate that its leg will probably have, Hz
   */
  begin(lane: L, call: Call, expectedRate: number): void {
    if (this.#preparationByLane.has(lane)) return;
    const preparation: Preparation = { call, scope: new AbortController(), preparedCall: undefined };
    this.#preparationByLane.set(lane, preparation);
    const program = programOf(call);
    const message = program.kind === "message" ? program.message(this.#context, call, expectedRate) : undefined;
    if (message) void this.#run(lane, message, preparation);
    else preparation.preparedCall = { callId: call.id, message };
  }

  /** Hands over the prepared message; from now on, the caller must cancel it. */
  take(lane: L): PreparedCall | undefined {
    const preparedCall = this.preparedCall(lane);
    if (preparedCall) this.#preparationByLane.delete(lane);
    return preparedCall;
  }

  /** Stops the preparation of a lane, or only of one call, and frees its rendered audio. */
  cancel(lane: L, callId?: string): void {
    const preparation = this.#preparationByLane.get(lane);
    if (!preparation || (callId !== undefined && preparation.call.id !== callId)) return;
    this.#preparationByLane.delete(lane);
    preparation.scope.abort();
    preparation.preparedCall?.message?.cancel();
  }

  /** Stops all preparations; resolves when the failures so far are stored, or cannot be. */
  async stop(): Promise<void> {
    for (const lane of [...this.#preparationByLane.keys()]) this.cancel(lane);
    await Promise.all(this.#failures);
  }

  /** Runs a preparation to its end. Never rejects. */
  async #run(lane: L, message: PreparedMessage, preparation: Preparation): Promise<void> {
    const { call, scope } = preparation;
    try {
      await this.#prepare(message, scope.signal);
      if (scope.signal.aborted) return message.cancel();
      preparation.preparedCall = { callId: call.id, message };
    } catch (error) {
      if (scope.signal.aborted) return;
      if (error instanceof StorageUnavailable) {
        this.#preparationByLane.delete(lane);
        return this.#watcher.onUnavailable(lane, error);
      }
      const failure = this.#fail(call, error);
      this.#failures.add(failure);
      await failure;
      this.#failures.delete(failure);
      if (scope.signal.aborted) return;
      this.#preparationByLane.delete(lane);
    }
    this.#watcher.onFinished(lane);
  }

  async #prepare(message: PreparedMessage, signal: AbortSignal): Promise<void> {
    const { system, timings } = this.#context;
    const ms = timings.messagePreparationMs;
    const timeoutError = () =>
      new ProgramFailed("speech_failed", `the message was not ready within ${ms} ms; the call was not dialled`);
    const cancel = () => message.cancel();
    signal.addEventListener("abort", cancel);
    try {
      const start = Promise.withResolvers<void>();
      const preparation = message.prepare(start.resolve);
      await Promise.race([start.promise, preparation]);
      await within(preparation, { system, ms, timeoutError });
    } catch (error) {
      cancel();
      throw error;
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  async #fail(call: Call, error: unknown): Promise<void> {
    const { log } = this.#context;
    const reason = error instanceof ProgramFailed ? error.reason : "internal_error";
    if (reason === "internal_error")
      log.error({ call_id: call.id, err: error }, "the message of a call could not be prepared");
    try {
      await failCall(this.#context, call, reason, errorText(error));
    } catch (fault) {
      log.error(
        { call_id: call.id, err: fault },
        "the failure of a call could not be stored; the next start prepares the call again",
      );
    }
  }
}
