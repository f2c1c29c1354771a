import { errorText } from "../../../base/error.ts";
import { Queue } from "../../../base/queue.ts";
import type { Call } from "../../../domain/calls/call.ts";
import { beginFlow, type CallFlow, decide, type FlowRules, NEW_FLOW } from "../../../domain/calls/call-flow.ts";
import type { CallEffect, CallSignal } from "../../../domain/calls/call-signal.ts";
import type { MediaStatistics } from "../../../domain/calls/media-statistics.ts";
import type { FailedReason } from "../../../domain/calls/outcome.ts";
import type { QualityInterval } from "../../../domain/calls/quality-series.ts";
import type { Fact } from "../../../domain/events.ts";
import { StorageUnavailable } from "../../../ports/storage.ts";
import { DEADLINE_PASSED, DialError, type Leg, type Line, type Telephony } from "../../../ports/telephony.ts";
import type { Findings } from "../../call-audio/agents/agent-result.ts";
import { CallMedia, type CallMediaContext, type FollowedAudio } from "../../call-audio/call-media.ts";
import { type LiveConnection, ProgramFailed } from "../../call-audio/call-types/call-type-program.ts";
import type { PreparedMessage } from "../../call-audio/call-types/prepared-message.ts";
import type { Context } from "../../context.ts";
import { CallClock } from "../call-clock.ts";
import { isOneWay } from "../creation/one-way-calls.ts";
import { refusalNow } from "../dialling/last-check.ts";
import { type DiallingContext, dialRelease, prepareDialling } from "../dialling/prepare-dialling.ts";
import { CallJournal, type CallJournalContext } from "./call-journal.ts";
import { QualityRecorder } from "./call-quality.ts";
import { CallTimers } from "./call-timers.ts";
import { type FlowRulesContext, flowRulesOf } from "./flow-rules.ts";
import { legSignals } from "./leg-signals.ts";
import { addressedDetail, liveOutcome, resultAtEnd } from "./outcomes.ts";

/** Dependencies of {@link CallSession}. */
export type CallSessionContext = Pick<
  Context,
  "events" | "lateResults" | "lease" | "log" | "shutdownSignal" | "storage" | "streams" | "system" | "timings"
> &
  CallMediaContext &
  CallJournalContext &
  DiallingContext &
  FlowRulesContext;

/**
 * One live call: dials, carries the message, puts every move of the call into its journal, and ends.
 *
 * Everything that happens to the call goes through one mailbox, is decided by `domain/calls/call-flow.ts` and carried
 * out here at once: nothing interleaves, and the network and the timers never wait for the storage. The session's
 * signal owns every timer and buffer.
 */
export class CallSession {
  readonly #context: CallSessionContext;
  readonly #telephony: Telephony;
  readonly #line: Line;
  readonly #message: PreparedMessage | undefined;
  readonly #onDial: () => void;
  readonly #rules: FlowRules;
  readonly #mailbox = new Queue<{ readonly signal: CallSignal; readonly at: number }>();
  readonly #timers: CallTimers;
  readonly #scope = new AbortController();
  /** Resolves when the decisions of the session are stored, or cannot be. */
  readonly #stored = Promise.withResolvers<void>();
  #isStored = false;
  readonly #journal: CallJournal;
  readonly #clock: CallClock;
  #flow: CallFlow = NEW_FLOW;
  /** True once the call has been dialled. */
  #wasDialled = false;
  #leg: Leg | undefined;
  #media: CallMedia | undefined;
  #dialPromise: Promise<void> = Promise.resolve();
  #release: Promise<void> | undefined;
  #statistics: MediaStatistics | null = null;
  /** The network's address of the number. */
  #address: string | undefined;
  #quality: QualityRecorder | undefined;
  #framesAtLineDown = 0;
  /** Time of the signal that is being carried out. */
  #signalAt = 0;
  /** Resolves when the end of the call is in the journal. */
  #conclusion: Promise<void> | undefined;
  /** The result that the agent has yet to state. */
  #lateResult: Promise<Findings> | undefined;
  /** Fault that keeps the call from continuing. */
  #fault: unknown;
  #linePause: { readonly until: number; readonly reason: string } | undefined;

  /**
   * @param call claimed by this process
   * @param message prepared; undefined for a call without a fixed message
   * @param onDial called right before the call is dialled; throws if it must no longer be dialled
   */
  constructor(
    context: CallSessionContext,
    call: Call,
    telephony: Telephony,
    line: Line,
    message: PreparedMessage | undefined,
    onDial: () => void,
  ) {
    this.#context = context;
    this.#clock = new CallClock(context.system, call);
    this.#journal = new CallJournal(context, call, (error) => this.#breakOff(error));
    this.#telephony = telephony;
    this.#line = line;
    this.#message = message;
    this.#onDial = onDial;
    this.#scope.signal.addEventListener("abort", () => message?.cancel());
    this.#rules = flowRulesOf(context, call, telephony);
    const post = (signal: CallSignal): void => this.#post(signal);
    const readings = { inboundFrames: () => this.#inboundFrames, progress: () => this.#leg?.progress?.() };
    this.#timers = new CallTimers(context.system, readings, post);
  }

  get callId(): string {
    return this.#journal.id;
  }

  /**
   * The call with all decisions so far, stored or not; without an owner it is back in its queue, because the line was
   * lost.
   */
  get call(): Call {
    return this.#journal.call;
  }

  /** Audio quality on the network so far; undefined if it was not measured. */
  get quality(): readonly QualityInterval[] | undefined {
    return this.#quality?.intervals;
  }

  /** True if the outcome of the session is stored. */
  get isStored(): boolean {
    return this.#isStored;
  }

  /** Resolves when the decisions of the session are stored, or cannot be. */
  get whenStored(): Promise<void> {
    return this.#stored.promise;
  }

  /**
   * Reason and end (ms of the monotonic clock) of the line's pause, if the line has refused this call because of it.
   */
  get linePause(): { readonly until: number; readonly reason: string } | undefined {
    return this.#linePause;
  }

  /** Runs the call to its end; resolves when the final state is stored and the leg has ended. Never rejects. */
  async run(): Promise<void> {
    try {
      this.#begin();
      for await (const { signal, at } of this.#mailbox) {
        this.#signalAt = at;
        const decision = decide(this.#flow, signal, this.#rules, this.#media?.missingEvidence);
        if (this.#flow.phase !== "over" && decision.flow.phase === "over") {
          this.#statistics = this.#takeStatistics();
          this.#quality?.end(at, this.#statistics);
        }
        this.#flow = decision.flow;
        for (const effect of decision.effects) this.#carryOut(effect);
      }
      await this.#conclusion;
      await this.#journal.whenStored();
      this.#isStored = true;
      if (this.#lateResult) this.#context.lateResults.add(this.#context, this.callId, this.#lateResult);
      if (this.call.owner === null) this.#context.streams.find(this.callId)?.onRequeue();
    } catch (error) {
      // Otherwise the process ends before the storage is back, and the next start settles the call.
      if (!(error instanceof StorageUnavailable)) await this.#giveUp(error);
    }
    this.#stored.resolve();
    await this.#release;
    this.#scope.abort();
  }

  /** Ends the call now; resolves when the outcome is stored, or cannot be. */
  async end(reason: FailedReason, detail: string | null = null): Promise<void> {
    this.#post({ type: "end", reason, detail });
    await this.#stored.promise;
  }

  /** Deletes the recording of the call and stops recording. */
  async eraseRecording(): Promise<void> {
    if (this.#media) await this.#media.eraseRecording();
    else this.#journal.eraseRecording();
  }

  /** Follows the audio of both directions; returns undefined if the call has no leg. */
  follow(...args: Parameters<CallMedia["follow"]>): FollowedAudio | undefined {
    return this.#media?.follow(...args);
  }

  /** Adds a note to the timeline; without effect once the call has ended. */
  addNote(fact: Fact): void {
    this.#post({ type: "noticed", fact });
  }

  /** Called when the line has gone offline. */
  onLineDown(reason: string): void {
    if (this.#leg?.watchesLine) return;
    this.#framesAtLineDown = this.#inboundFrames;
    this.#post({ type: "line_down", reason });
  }

  /** Called when the line is online again. */
  onLineUp(): void {
    if (this.#leg?.watchesLine) return;
    this.#post({ type: "line_up", inboundSince: this.#inboundFrames > this.#framesAtLineDown });
  }

  get #inboundFrames(): number {
    return this.#media?.inboundFrames ?? 0;
  }

  #post(signal: CallSignal): void {
    this.#mailbox.push({ signal, at: this.#clock.now() });
  }

  #begin(): void {
    if (this.#rules.isStreamed)
      this.#context.streams.streamOf(this.#context, this.call).begin((signal) => this.#post(signal));
    for (const effect of beginFlow(this.#rules).effects)
      if (effect.do === "timer") this.#timers.set(effect.name, effect.ms);
    this.#dialPromise = this.#dial();
  }

  /** Dials and passes on the events of the leg; resolves when the leg exists or never will. */
  async #dial(): Promise<void> {
    const { signal } = this.#scope;
    let refusal: Error | undefined;
    const options = {
      callId: this.callId,
      ringTimeoutMs: this.#context.timings.ringTimeoutMs,
      from: this.call.from,
      sip: this.call.sip,
      mayCall: async (phoneNumber: string) => {
        refusal = await refusalNow(this.#context, this.call, this.#telephony, phoneNumber);
        return refusal === undefined;
      },
    };
    try {
      const connection = await prepareDialling(this.#context, this.call, this.#telephony, signal);
      if (signal.aborted) return; // the call ended in the meantime: no look-up in the storage
      if (!this.#context.lease.canDial) throw new DialError("line_lost", DEADLINE_PASSED);
      this.#onDial();
      this.#wasDialled = true;
      const leg = await this.#line.dial(this.call.targetPhone, options, signal);
      this.#leg = leg;
      if (this.#flow.phase === "over") return;
      if (isOneWay(this.call, this.#telephony)) this.#warnOneWay();
      this.#media = this.#createMedia(leg, connection);
      void this.#media.play(signal);
      void this.#follow(leg, this.#media);
      if (leg.statistics) this.#measure(leg);
    } catch (fault) {
      const error = refusal ?? fault;
      if (error instanceof ProgramFailed) {
        this.#post({ type: "end", reason: error.reason, detail: errorText(error) });
        return;
      }
      const cause = dialRelease(error);
      if (cause === "paused") this.#wasDialled = false;
      if (error instanceof DialError && error.retryAfterMs !== undefined)
        this.#linePause = {
          until: this.#context.system.monotonic() + Math.max(0, error.retryAfterMs),
          reason: error.message,
        };
      if (cause === "internal_error") this.#context.log.error({ call_id: this.callId, err: error }, "dialling failed");
      const refusalScope = error instanceof DialError ? error.refusal : undefined;
      this.#post({ type: "leg_ended", cause, detail: errorText(error), refusal: refusalScope });
    }
  }

  #warnOneWay(): void {
    const data = { call_id: this.callId, provider: this.#telephony.name };
    this.#context.log.warn(data, "the network does not return the callee's audio: an agent or a stream receives none");
    this.#post({ type: "noticed", fact: { event: "media.one_way", data: {} } });
  }

  #createMedia(leg: Leg, connection: LiveConnection | undefined): CallMedia {
    const post = (signal: CallSignal) => this.#post(signal);
    const preparedMedia = { message: this.#message, connection };
    return new CallMedia(this.#context, this.call, preparedMedia, leg, this.#telephony, post);
  }

  async #follow(leg: Leg, media: CallMedia): Promise<void> {
    for await (const signal of legSignals(leg, (digit) => media.isNewKey(digit))) this.#post(signal);
  }

  #measure(leg: Leg): void {
    try {
      this.#quality = new QualityRecorder(this.#context, this.callId, this.#clock, leg);
      if (this.call.startedAt !== null) this.#quality.begin(this.call.startedAt);
    } catch (error) {
      this.#context.log.warn({ call_id: this.callId, err: error }, "the quality of the audio cannot be measured");
    }
  }

  #carryOut(effect: CallEffect): void {
    switch (effect.do) {
      case "move":
        this.#journal.move(effect.input, this.#signalAt, this.#leg?.sipCallId);
        if (effect.input === "connect") this.#quality?.begin(this.#signalAt);
        break;
      case "conclude":
        this.#conclusion = this.#conclude(effect);
        this.#close();
        break;
      case "requeue":
        this.#media?.end();
        this.#journal.requeue();
        this.#close();
        break;
      case "hang_up":
        this.#hangUp();
        break;
      case "timer":
        this.#timers.set(effect.name, effect.ms);
        break;
      case "cancel":
        this.#timers.cancel(effect.name);
        break;
      case "dial_extension":
        void this.#media?.opening?.dialExtension();
        break;
      case "await_first_word":
        this.#media?.opening?.awaitFirstWord();
        break;
      case "begin_message":
        this.#media?.opening?.end(effect.delayMs);
        break;
      case "await_voicemail":
        this.#media?.awaitVoicemail();
        break;
      case "await_person":
        this.#media?.awaitPerson(effect.reason);
        break;
      case "discard_message":
        this.#media?.discardMessage();
        break;
      case "leave_message":
        this.#media?.leaveMessage();
        break;
      case "note":
        if (effect.fact.event === "address_resolved") this.#address = effect.fact.data.resolved_address;
        this.#journal.addNote(effect.fact, this.#signalAt);
    }
  }

  async #conclude({ input, reason, detail: cause, refusal }: Extract<CallEffect, { do: "conclude" }>): Promise<void> {
    const { call } = this;
    const detail = addressedDetail(cause, call, this.#address);
    const media = this.#media;
    const { lastFacts = [], flushed } = media?.end() ?? {};
    const endedAt = this.#signalAt;
    const outcome = liveOutcome(call, media, { reason, detail, refusal, answeredBy: this.#flow.answeredBy, endedAt });
    if (flushed) await flushed;
    const { recordedMs } = media ?? this.call;
    const { result, resultError, facts, lateResult } = resultAtEnd(call, media);
    this.#lateResult = lateResult;
    const mediaStatistics = this.#statistics;
    this.#journal.end({
      ...{ input, outcome, endedAt, result, resultError, turns: media?.turns, mediaStatistics, recordedMs },
      quality: this.quality,
      wasDialled: this.#wasDialled,
      sipCallId: this.#leg?.sipCallId,
      lateFacts: [...lastFacts, ...facts],
    });
  }

  /** Breaks the call off because its journal cannot be stored. */
  #breakOff(fault: unknown): void {
    this.#fault = fault;
    this.#flow = { ...this.#flow, phase: "over" };
    this.#media?.end();
    this.#hangUp();
    this.#close();
  }

  async #giveUp(error: unknown): Promise<void> {
    this.#context.log.error({ call_id: this.callId, err: error }, "the call session failed");
    if (this.#fault === undefined) this.#breakOff(error);
    await this.#journal.giveUp(errorText(error));
  }

  #takeStatistics(): MediaStatistics | null {
    try {
      return this.#leg?.statistics?.() ?? null;
    } catch (error) {
      this.#context.log.warn(
        { call_id: this.callId, err: error },
        "the network could not report the final quality of the audio",
      );
      return null;
    }
  }

  /** Hangs up once; the leg has `releaseTimeoutMs` to end. */
  #hangUp(): void {
    this.#scope.abort();
    if (this.#release) return;
    const { system, timings, log } = this.#context;
    this.#release = new Promise<void>((resolve) => {
      const cancel = system.after(timings.releaseTimeoutMs, () => {
        log.warn({ call_id: this.callId }, "the leg did not end in time and was abandoned");
        resolve();
      });
      const onEnded = () => {
        cancel();
        resolve();
      };
      this.#dialPromise.then(() => this.#leg?.hangUp()).then(onEnded, onEnded);
    });
  }

  #close(): void {
    this.#timers.cancelAll();
    this.#quality?.stop();
    this.#mailbox.close();
  }
}
