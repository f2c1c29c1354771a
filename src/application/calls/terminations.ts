import { within } from "../../base/timers.ts";
import { type Call, isActive } from "../../domain/calls/call.ts";
import { CLOSED_BEFORE_ANSWER } from "../../domain/calls/call-flow.ts";
import type { FailedReason } from "../../domain/calls/outcome.ts";
import { Refusal } from "../../domain/refusal.ts";
import { StorageUnavailable } from "../../ports/storage.ts";
import type { Context } from "../context.ts";
import { retryUntilStored } from "../retry-until-stored.ts";
import type { Dispatcher } from "./dialling/dispatcher.ts";
import { failCall, type StoredCallsContext } from "./stored-calls.ts";

type TerminationsContext = Pick<Context, "log" | "shutdownSignal" | "storage" | "system" | "timings"> &
  StoredCallsContext;

/** Maximum number of remembered calls whose end was stored only after every request for it had been refused. */
const MAX_UNCONFIRMED = 1_000;

/** The live calls, as a termination sees them. */
type LiveCalls = Pick<Dispatcher, "session" | "whenIdle" | "whenReleased" | "wake" | "withdraw">;

interface Termination {
  readonly reason: FailedReason;
  /** True once a request has received the response that it ended the call. */
  isConfirmed: boolean;
  /** True once a request has been refused because the end could not be stored in time. */
  isRefused: boolean;
  /** True if the call ended for this reason; rejects if the process ends before that is stored. */
  readonly whenStored: Promise<boolean>;
}

/**
 * Ends calls on request, live or waiting.
 *
 * A live call is hung up immediately, whatever the storage does; a waiting call is no longer dialled. The end is stored
 * as soon as the storage accepts it, even if no request waits for it. Of all requests to end one call, exactly one gets
 * the response that it ended the call: a later request if the earlier ones were refused because the storage was down.
 */
export class Terminations {
  readonly #context: TerminationsContext;
  readonly #liveCalls: LiveCalls;
  readonly #byCall = new Map<string, Termination>();
  readonly #unconfirmedIds = new Set<string>();

  constructor(context: TerminationsContext, liveCalls: LiveCalls) {
    this.#context = context;
    this.#liveCalls = liveCalls;
  }

  /** True if a call will end but its end is not stored yet. */
  isPending(callId: string): boolean {
    return this.#byCall.has(callId);
  }

  /** The calls that will end but whose end is not stored yet. */
  get pendingCalls(): readonly string[] {
    return [...this.#byCall.keys()];
  }

  /** Ends a waiting call whose stream's client has hung up, however long the storage takes. Never rejects. */
  async endUndialled(callId: string): Promise<void> {
    const { storage, log } = this.#context;
    try {
      const call = await retryUntilStored(this.#context, `the end of call ${callId}`, () => storage.calls.get(callId));
      if (call && isActive(call.status)) await this.end(call, "terminated", CLOSED_BEFORE_ANSWER);
    } catch (error) {
      log.warn({ call_id: callId, err: error }, "the call could not be ended, although its client has hung up");
    }
  }

  /** Ends every active call of an instance immediately: hangs up the live one, and dials none of the others. */
  async endCallsOf(instanceId: string, reason: FailedReason): Promise<void> {
    const calls = await this.#context.storage.calls.active(instanceId);
    await Promise.all(calls.map((call) => this.end(call, reason, null)));
  }

  /**
   * Ends a call at its user's request; returns true if this request ended it, false if the call had ended otherwise.
   * @param withinMs time to wait until that is stored, ms
   * @throws {Refusal} `storage_unavailable`: the call ends, but that could not be stored in time; it will be stored
   *   later
   */
  async terminate(call: Call, withinMs: number): Promise<boolean> {
    if (this.#unconfirmedIds.delete(call.id)) return true;
    const termination = this.#terminationOf(call, "terminated", null);
    const hasEnded = await this.#waitUntilStored(call, termination, withinMs).catch((cause: unknown) => {
      if (!(cause instanceof StorageUnavailable)) throw cause;
      termination.isRefused = true;
      throw new Refusal("storage_unavailable", cause.message, { cause });
    });
    if (!hasEnded || termination.isConfirmed || termination.reason !== "terminated") return false;
    termination.isConfirmed = true;
    this.#unconfirmedIds.delete(call.id);
    return true;
  }

  /**
   * Ends a call; resolves when its end is stored.
   * @throws {StorageUnavailable} the call ends, but that could not be stored in time; it will be stored later
   */
  async end(call: Call, reason: FailedReason, detail: string | null): Promise<void> {
    await this.#waitUntilStored(call, this.#terminationOf(call, reason, detail), this.#context.timings.storeMs);
  }

  #terminationOf(call: Call, reason: FailedReason, detail: string | null): Termination {
    const existing = this.#byCall.get(call.id);
    if (existing) return existing;
    const whenStored = this.#store(call, reason, detail).finally(() => this.#byCall.delete(call.id));
    const termination: Termination = { reason, whenStored, isConfirmed: false, isRefused: false };
    this.#byCall.set(call.id, termination);
    whenStored.then(
      (hasEnded) => {
        if (hasEnded && termination.isRefused && reason === "terminated") this.#remember(call.id);
      },
      () => {}, // waiting requests get the error; the next start settles the call
    );
    return termination;
  }

  #remember(callId: string): void {
    this.#unconfirmedIds.add(callId);
    for (const oldest of this.#unconfirmedIds)
      if (this.#unconfirmedIds.size > MAX_UNCONFIRMED) this.#unconfirmedIds.delete(oldest);
  }

  #waitUntilStored({ id, status }: Call, { whenStored }: Termination, ms: number): Promise<boolean> {
    const consequence =
      (this.#liveCalls.session(id) ?? status !== "QUEUED") ? "it ends anyway" : "this server does not dial it";
    const message = `the end of call ${id} could not be stored in time; ${consequence}; repeat the request until it returns 204`;
    return within(whenStored, {
      system: this.#context.system,
      ms,
      timeoutError: () => new StorageUnavailable(message),
    });
  }

  /** Ends the call and stores that; returns false if it ended otherwise. */
  async #store(call: Call, reason: FailedReason, detail: string | null): Promise<boolean> {
    const { id, instanceId } = call;
    this.#liveCalls.withdraw(call);
    let wasHungUp = await this.#hangUp(id, reason, detail);
    return retryUntilStored(this.#context, `the end of call ${id}`, async () => {
      for (;;) {
        await this.#liveCalls.whenIdle(instanceId);
        if (this.#liveCalls.session(id)) wasHungUp = (await this.#hangUp(id, reason, detail)) || wasHungUp;
        const call = await this.#context.storage.calls.get(id);
        if (!call || !isActive(call.status)) return wasHungUp && call?.outcome?.reason === reason;
        // A session that could not store the end lives until its leg has ended.
        if (this.#liveCalls.session(id)) {
          await this.#liveCalls.whenReleased(id);
          continue;
        }
        if (!(await failCall(this.#context, call, reason, detail))) continue;
        this.#liveCalls.wake(instanceId);
        return true;
      }
    });
  }

  /**
   * Ends the call if it is live; returns false if it is not, or had ended before. Resolves when its outcome is stored.
   */
  async #hangUp(id: string, reason: FailedReason, detail: string | null): Promise<boolean> {
    const session = this.#liveCalls.session(id);
    const wasLive = session !== undefined && isActive(session.call.status);
    await session?.end(reason, detail);
    return wasLive;
  }
}
