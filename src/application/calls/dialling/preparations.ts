import { errorText } from "../../../base/error.ts";
import { within } from "../../../base/timers.ts";
import type { Call } from "../../../domain/calls/call.ts";
import { StorageUnavailable } from "../../../ports/storage.ts";
import { programOf } from "../../call-audio/programs/all-programs.ts";
import type { PreparedMessage } from "../../call-audio/programs/message.ts";
import { type ProgramContext, ProgramFailed } from "../../call-audio/programs/program.ts";
import type { Context } from "../../context.ts";
import { failCall, type StoredCallsContext } from "../stored-calls.ts";

type PreparationsContext = Pick<Context, "log" | "system" | "timings"> & ProgramContext & StoredCallsContext;

/** The call that an instance dials next, with the beginning of its message. */
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
export interface PreparationsWatcher {
  /** The preparation is ready, or its call has failed. */
  onFinished(instanceId: string): void;
  /** The stored message cannot be read now. */
  onUnavailable(instanceId: string, error: StorageUnavailable): void;
}

/**
 * Prepares messages of waiting calls: one per instance, before its call is claimed. A call whose message is not
 * ready in time fails before any phone rings. A preparation is not stored; a cancelled one leaves its call
 * waiting.
 */
export class Preparations {
  readonly #context: PreparationsContext;
  readonly #watcher: PreparationsWatcher;
  readonly #byInstance = new Map<string, Preparation>();
  /** Calls whose failure is being stored. */
  readonly #failures = new Set<Promise<void>>();

  constructor(context: PreparationsContext, watcher: PreparationsWatcher) {
    this.#context = context;
    this.#watcher = watcher;
  }

  /** The call that is being prepared, or is ready. */
  call(instanceId: string): Call | undefined {
    return this.#byInstance.get(instanceId)?.call;
  }

  /** The call that is ready, if there is one. */
  preparedCall(instanceId: string): PreparedCall | undefined {
    return this.#byInstance.get(instanceId)?.preparedCall;
  }

  /**
   * Prepares the message of a call, unless the instance has a preparation; a call without a fixed message is ready at once.
   * @param expectedRate the rate that its leg will probably have, Hz
   */
  begin(call: Call, expectedRate: number): void {
    if (this.#byInstance.has(call.instanceId)) return;
    const preparation: Preparation = { call, scope: new AbortController(), preparedCall: undefined };
    this.#byInstance.set(call.instanceId, preparation);
    const program = programOf(call);
    const message = program.kind === "message" ? program.message(this.#context, call, expectedRate) : undefined;
    if (message) void this.#run(call, message, preparation);
    else preparation.preparedCall = { callId: call.id, message };
  }

  /** Hands over the prepared message, which the caller must now cancel. */
  take(instanceId: string): PreparedCall | undefined {
    const ready = this.preparedCall(instanceId);
    if (ready) this.#byInstance.delete(instanceId);
    return ready;
  }

  /** Stops the preparation of an instance, or only of one call, and frees its rendered audio. */
  cancel(instanceId: string, callId?: string): void {
    const preparation = this.#byInstance.get(instanceId);
    if (!preparation || (callId !== undefined && preparation.call.id !== callId)) return;
    this.#byInstance.delete(instanceId);
    preparation.scope.abort();
    preparation.preparedCall?.message?.cancel();
  }

  /** Stops all of them; resolves when the calls that had failed are stored, or cannot be. */
  async stop(): Promise<void> {
    for (const instanceId of [...this.#byInstance.keys()]) this.cancel(instanceId);
    await Promise.all(this.#failures);
  }

  /** Never rejects. */
  async #run(call: Call, message: PreparedMessage, preparation: Preparation): Promise<void> {
    const { instanceId } = call;
    const { scope } = preparation;
    try {
      await this.#prepare(message, scope.signal);
      if (scope.signal.aborted) return message.cancel();
      preparation.preparedCall = { callId: call.id, message };
    } catch (error) {
      if (scope.signal.aborted) return;
      if (error instanceof StorageUnavailable) {
        this.#byInstance.delete(instanceId);
        return this.#watcher.onUnavailable(instanceId, error);
      }
      const failure = this.#fail(call, error);
      this.#failures.add(failure);
      await failure;
      this.#failures.delete(failure);
      if (scope.signal.aborted) return;
      this.#byInstance.delete(instanceId);
    }
    this.#watcher.onFinished(instanceId);
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
