import type { Call } from "../../../domain/calls/call.ts";
import type { FailedReason } from "../../../domain/calls/outcome.ts";
import {
  decideQueue,
  NEW_QUEUE,
  type QueueEffect,
  type QueueFlow,
  type QueueInput,
  type QueueState,
  RETRY_MS,
} from "../../../domain/instances/queue-flow.ts";
import { StorageUnavailable } from "../../../ports/storage.ts";
import { ProgramFailed } from "../../call-audio/call-types/call-type-program.ts";
import type { Context } from "../../context.ts";
import type { LineMonitor, NumberState } from "../../instances/line-monitor.ts";
import { CallSession, type CallSessionContext } from "../live/call-session.ts";
import { failCall, storeCall } from "../stored-calls.ts";
import { decideNext, mayPostpone } from "./dial-protection.ts";
import type { Preparations } from "./preparations.ts";

/** Dependencies of {@link LaneQueue}. */
export type LaneQueueContext = Pick<Context, "log" | "nodeId" | "processPauses" | "storage" | "system"> &
  CallSessionContext;

/** Assumed sample rate of a network's legs if the network states none, Hz. */
const DEFAULT_RATE = 8_000;

/** Longest interval between checks for postponed calls, ms. */
const POSTPONED_CHECK_MS = 600_000;

/** The dispatcher and the other lanes of the instance, for the queue of one lane. */
export interface QueueHost {
  readonly isStopping: boolean;
  readonly monitor: LineMonitor | undefined;
  /** True if the server and the line can take a call. */
  readonly canDial: boolean;
  /** Times at which the live calls of the instance were dialled. */
  readonly liveDials: readonly number[];
  readonly preparations: Preparations<LaneQueue>;
  /** Runs work that decides about a call and claims it: one lane at a time. */
  runInTurn(work: () => Promise<void>): Promise<void>;
  /** Ids of the calls that other lanes are preparing. */
  otherPreparedIds(queue: LaneQueue): readonly string[];
  /** True if the call is ending, even if that is not stored yet: it must not be dialled. */
  isEnding(callId: string): boolean;
  /** Called when a claimed call has returned to its queue. */
  onRequeued(call: Call): void;
  /** Called when a call is live. `whenEnded` resolves when the session no longer works on the call. */
  onStarted(session: CallSession, whenEnded: Promise<void>): void;
  onEnded(session: CallSession): void;
  /** Wakes the instance, and the queue if it already has a call. */
  wake(queue: LaneQueue): void;
  /** Called when the queue has a call, so that another lane may look for the next call. */
  onAdvanced(): void;
  /** Called when the queue has neither a call, prepared or live, nor an alarm. */
  onEmptied(queue: LaneQueue): void;
}

/**
 * The queue for one of an instance's lines, called a lane: starts calls one at a time, each as soon as the line can
 * dial and the beginning of its message is ready. Every input is decided by `domain/instances/queue-flow.ts` and
 * carried out here.
 */
export class LaneQueue {
  readonly instanceId: string;
  /** Number of the line, from 0. */
  readonly line: number;
  readonly #context: LaneQueueContext;
  readonly #host: QueueHost;
  #flow: QueueFlow = NEW_QUEUE;
  #session: CallSession | undefined;
  #checkPromise: Promise<void> = Promise.resolve();
  #cancelAlarm: (() => void) | undefined;
  /** Calls whose session ended before its outcome could be stored: they may have been dialled. */
  readonly #unstoredIds = new Set<string>();

  constructor(context: LaneQueueContext, instanceId: string, line: number, host: QueueHost) {
    this.#context = context;
    this.instanceId = instanceId;
    this.line = line;
    this.#host = host;
  }

  /** The session of the live call. */
  get session(): CallSession | undefined {
    return this.#session;
  }

  get state(): QueueState {
    return this.#flow.state;
  }

  /** True if a call is being prepared, or the database has not confirmed a claim: no other lane continues with it. */
  get hasBegun(): boolean {
    return this.#host.preparations.call(this) !== undefined || this.#flow.unconfirmedUntil !== undefined;
  }

  /** Resolves when no claim is under way: every claimed call then has its session. */
  get whenIdle(): Promise<void> {
    return this.#checkPromise;
  }

  /** Checks for a call to dial. */
  wake(): void {
    this.#decide({ type: "wake", canDial: this.#host.canDial, isStopping: this.#host.isStopping });
  }

  onClockSet(): void {
    this.#decide({ type: "clock_set" });
  }

  onLineDown(reason: string): void {
    this.#decide({ type: "line_down" });
    this.#session?.onLineDown(reason);
  }

  /** Stops preparing the next call: it is being ended. */
  withdraw(): void {
    this.#decide({ type: "withdraw" });
  }

  /** Tries again later: the next call could not be started. */
  tryAgain(error: unknown): void {
    const level = error instanceof StorageUnavailable ? "warn" : "error";
    this.#context.log[level](
      { instance_id: this.instanceId, err: error },
      "the next call could not be started; trying again",
    );
    this.#decide({ type: "retry", ms: RETRY_MS });
  }

  /** Cancels the alarm. */
  stop(): void {
    this.#cancelAlarm?.();
    this.#cancelAlarm = undefined;
  }

  #decide(input: QueueInput): void {
    const { flow, effects } = decideQueue(this.#flow, input);
    this.#flow = flow;
    for (const effect of effects) this.#carryOut(effect);
    if (input.type === "prepare" || input.type === "dial") this.#host.onAdvanced();
    // An effect may have triggered another decision in the meantime, for example because the clock was changed.
    if (this.#flow.state === "idle" && !this.hasBegun && !this.#cancelAlarm && this.#unstoredIds.size === 0)
      this.#host.onEmptied(this);
  }

  #carryOut(effect: QueueEffect): void {
    switch (effect.do) {
      case "look":
        this.#checkPromise = this.#check();
        break;
      case "wake":
        this.#host.wake(this);
        break;
      case "wake_in":
        this.#wakeIn(effect.ms);
        break;
      case "cancel_preparation":
        this.#host.preparations.cancel(this);
    }
  }

  #wakeIn(ms: number): void {
    this.stop();
    if (this.#host.isStopping) return;
    this.#cancelAlarm = this.#context.system.after(ms, () => {
      this.#cancelAlarm = undefined;
      this.#decide({ type: "alarm" });
    });
  }

  get #isReadyToDial(): boolean {
    return this.#host.canDial && !this.#session;
  }

  #check(): Promise<void> {
    return this.#host.runInTurn(() => this.#checkNow());
  }

  async #checkNow(): Promise<void> {
    let result: QueueInput | undefined = { type: "rest" };
    try {
      result = await this.#dialNext();
    } catch (error) {
      this.tryAgain(error);
    }
    if (result) this.#decide(result);
  }

  /** Dials the next call if it is due; otherwise resolves with the next step of the queue. */
  async #dialNext(): Promise<QueueInput | undefined> {
    const { system } = this.#context;
    const { preparations, monitor } = this.#host;
    if (this.#flow.unconfirmedUntil !== undefined) await this.#giveBackUnconfirmed();
    const waitMs = (monitor?.number.linePause?.until ?? 0) - system.monotonic();
    if (waitMs > 0) {
      this.#decide({ type: "retry", ms: waitMs });
      return REST;
    }
    const line = await monitor?.line();
    if (!monitor || !line || !this.#isReadyToDial) {
      preparations.cancel(this);
      return REST;
    }
    const next = preparations.call(this) ?? (await this.#nextCall());
    const staleReason = next && this.#context.processPauses.staleReasonOf(next);
    if (next && staleReason !== undefined)
      return await this.#block(next, { reason: "instance_offline", detail: staleReason });
    const decision = await decideNext(this.#context, monitor, next, this.#host.liveDials);
    if (!next) return mayPostpone(this.#context, monitor.telephony) ? await this.#awaitPostponed() : REST;
    if (decision.do === "postpone") return await this.#postpone(next, decision.until);
    if (decision.do === "wait") return { type: "hold", ms: decision.ms };
    if (decision.do === "block") return await this.#block(next, decision);
    if (this.#host.isEnding(next.id) || !this.#isReadyToDial) return REST; // its termination wakes the queue
    preparations.begin(this, next, monitor.telephony.capabilities.sampleRate ?? DEFAULT_RATE);
    const preparedCall = preparations.preparedCall(this);
    if (!preparedCall) return { type: "prepare" };
    const call = await this.#claim(preparedCall.callId);
    const preparation = preparations.preparedCall(this) === preparedCall ? preparations.take(this) : undefined;
    if (!preparation || call?.id !== preparedCall.callId || this.#host.isEnding(call.id) || !this.#isReadyToDial) {
      preparedCall.message?.cancel();
      if (this.#host.isEnding(preparedCall.callId)) return REST; // its termination wakes the queue
      if (call) await this.#giveBack(call);
      this.#host.wake(this);
      return REST;
    }
    const { number } = monitor;
    number.linePause = undefined; // unless this dial sets it again
    number.dialling++;
    let isDialling = true;
    const endDialling = () => {
      if (isDialling) number.dialling--;
      isDialling = false;
    };
    const onDial = () => {
      const staleReason = this.#context.processPauses.staleReasonOf(call);
      if (staleReason !== undefined) throw new ProgramFailed("instance_offline", staleReason);
      number.lastDial = { at: system.monotonic() };
      endDialling();
    };
    const session = new CallSession(this.#context, call, monitor.telephony, line, preparedCall.message, onDial);
    this.#session = session;
    monitor.setInCall(true);
    this.#host.onStarted(
      session,
      session.run().then(() => {
        endDialling();
        this.#onSessionEnd(session, number);
      }),
    );
    this.#decide({ type: "dial" });
    return undefined;
  }

  /** The call to claim next. */
  async #nextCall(): Promise<Call | undefined> {
    const { storage, system } = this.#context;
    const preparedIds = this.#host.otherPreparedIds(this);
    const next = await storage.calls.nextWaiting(this.instanceId, preparedIds, system.now());
    return next && !this.#host.isEnding(next.id) && !preparedIds.includes(next.id) ? next : undefined;
  }

  /** Fails a call instead of dialling it. */
  async #block(
    call: Call,
    { reason, detail }: { readonly reason: FailedReason; readonly detail: string },
  ): Promise<QueueInput> {
    this.#host.preparations.cancel(this, call.id);
    if (!this.#host.isEnding(call.id)) await failCall(this.#context, call, reason, detail);
    this.#host.wake(this);
    return REST;
  }

  /** Lets the other calls pass until the calling hours of this call may begin. */
  async #postpone(call: Call, notBefore: number): Promise<QueueInput> {
    this.#host.preparations.cancel(this, call.id);
    if (!this.#host.isEnding(call.id)) await storeCall(this.#context, call, { notBefore }, []);
    this.#host.wake(this);
    return REST;
  }

  /** Sets the alarm for the first postponed call, because no other call waits. */
  async #awaitPostponed(): Promise<QueueInput> {
    const { storage, system } = this.#context;
    const now = system.now();
    const notBefore = await storage.calls.nextNotBefore(this.instanceId, now);
    // The clock may be changed in the meantime, so a long wait is checked again.
    if (notBefore !== undefined) this.#decide({ type: "retry", ms: Math.min(notBefore - now, POSTPONED_CHECK_MS) });
    return REST;
  }

  async #claim(callId: string): Promise<Call | undefined> {
    const { storage, system, nodeId } = this.#context;
    try {
      return await storage.calls.claimNext(this.instanceId, nodeId, system.now(), this.line, callId);
    } catch (error) {
      this.#decide({ type: "claim_unconfirmed", now: system.monotonic() });
      throw error;
    }
  }

  /** Returns claimed calls without a session to the queue: an unconfirmed claim may leave them, even a little later. */
  async #giveBackUnconfirmed(): Promise<void> {
    const { storage, system, nodeId } = this.#context;
    for (const call of await storage.calls.claimed(this.instanceId, nodeId))
      if (call.line === this.line && this.#session?.callId !== call.id && !this.#unstoredIds.has(call.id))
        await this.#giveBack(call);
    this.#decide({ type: "claims_checked", now: system.monotonic() });
  }

  /** Returns a call to its queue: the line went down, or the server began to stop, while it was being claimed. */
  async #giveBack(claimedCall: Call): Promise<void> {
    const call = await storeCall(this.#context, claimedCall, { owner: null, dialingAt: null, line: null }, []);
    if (call) this.#host.onRequeued(call);
  }

  #onSessionEnd(session: CallSession, number: NumberState): void {
    if (!session.isStored) this.#unstoredIds.add(session.callId);
    this.#session = undefined;
    this.#host.onEnded(session);
    this.#host.monitor?.setInCall(false);
    const isRequeued = session.call.owner === null;
    if (isRequeued && session.linePause) number.linePause = session.linePause;
    if (isRequeued) this.#host.onRequeued(session.call);
    this.#decide({ type: isRequeued ? "requeue" : "end" });
  }
}

const REST: QueueInput = { type: "rest" };
