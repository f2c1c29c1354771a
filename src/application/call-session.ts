import { CALL_TRANSITIONS, type Call, type CallInput } from "../domain/call.ts";
import {
  beginFlow,
  type CallEffect,
  type CallFlow,
  type CallSignal,
  decide,
  type FlowRules,
  NEW_FLOW,
  type TimerName,
} from "../domain/call-flow.ts";
import type { Event, EventData, EventType } from "../domain/events.ts";
import { nextState } from "../domain/machine.ts";
import type { MediaStatistics } from "../domain/media-statistics.ts";
import type { FailedReason, Outcome } from "../domain/outcome.ts";
import type { ReleaseCause } from "../domain/release-cause.ts";
import { type CallPatch, StorageUnavailable } from "../ports/storage.ts";
import { DialError, type Leg, type LegEvent, type Line, type Telephony } from "../ports/telephony.ts";
import { CallMedia } from "./call-media.ts";
import type { Context } from "./context.ts";
import { insist } from "./insist.ts";
import { Mailbox } from "./mailbox.ts";
import { finalEvent, nothingHeard, outcomeView } from "./outcomes.ts";
import { ProgramFailed, programOf } from "./programs/program.ts";
import { failCall, storeCall } from "./stored-calls.ts";

/**
 * One live call: dials, carries the message, writes every move of the call, and ends.
 *
 * All that happens to the call comes through one mailbox, is decided by `domain/call-flow.ts` and carried out here, so
 * nothing interleaves and the final state is written once. The session's signal owns every timer and buffer.
 */
export class CallSession {
  readonly #context: Context;
  readonly #telephony: Telephony;
  readonly #line: Line;
  readonly #rules: FlowRules;
  readonly #mailbox = new Mailbox<{ readonly signal: CallSignal; readonly at: number }>();
  readonly #timers = new Map<TimerName, () => void>();
  readonly #scope = new AbortController();
  /** Resolves when the final state is stored: true; or when the session is over without that: false. */
  readonly #stored: Promise<boolean>;
  #resolveStored: (stored: boolean) => void = () => {};
  #call: Call;
  #flow: CallFlow = NEW_FLOW;
  #leg: Leg | undefined;
  #media: CallMedia | undefined;
  #dialled: Promise<void> = Promise.resolve();
  #released: Promise<void> | undefined;
  #answered = false;
  #statistics: MediaStatistics | null = null;
  #framesAtLineDown = 0;
  /** When the signal that is being carried out was given; the storage may have kept it waiting. */
  #at = 0;
  /** The signal that ended the call. */
  #lastSignal: CallSignal | undefined;
  /** Events that the storage could not take yet; they go with the next write. */
  #unsaved: Event[] = [];
  #lineFull: { readonly until: number; readonly reason: string } | undefined;

  /** @param call claimed by this process */
  constructor(context: Context, call: Call, telephony: Telephony, line: Line) {
    this.#context = context;
    this.#call = call;
    this.#telephony = telephony;
    this.#line = line;
    this.#stored = new Promise((resolve) => {
      this.#resolveStored = resolve;
    });
    this.#rules = {
      timings: context.timings,
      inboundCertain: context.requireInboundAudio || telephony.capabilities.inboundAudioCertain,
      streamed: call.message.type === "DYNAMIC_STREAM",
    };
  }

  get callId(): string {
    return this.#call.id;
  }

  /** The call as it was last written; without an owner it waits again, because the line was gone. */
  get call(): Call {
    return this.#call;
  }

  /** Why and until when (ms since 1970-01-01 UTC) the line takes no call, where it has refused this one for that. */
  get lineFull(): { readonly until: number; readonly reason: string } | undefined {
    return this.#lineFull;
  }

  /** Runs the call to its end; resolves when the final state is stored and the leg is gone. Never rejects. */
  async run(): Promise<void> {
    try {
      this.#begin();
      for await (const { signal, at } of this.#mailbox) {
        this.#at = at;
        const decision = decide(this.#flow, signal, this.#rules);
        if (this.#flow.phase !== "over" && decision.flow.phase === "over") {
          this.#lastSignal = signal;
          this.#statistics = this.#takeStatistics();
        }
        this.#flow = decision.flow;
        for (const effect of decision.effects) await this.#carryOut(effect);
      }
    } catch (error) {
      this.#context.log.error({ call_id: this.#call.id, err: error }, "the call session broke off");
      this.#flow = { ...this.#flow, phase: "over" };
      this.#media?.finish();
      this.#hangUp();
      this.#close();
      await this.#giveUp(error);
    }
    await this.#released;
    this.#scope.abort();
    this.#resolveStored(false);
  }

  /** Ends the call; resolves when that is stored: true if it was this request that ended it. */
  async end(reason: FailedReason, detail: string | null = null): Promise<boolean> {
    const signal: CallSignal = { type: "end", reason, detail };
    this.#post(signal);
    return (await this.#stored) && this.#lastSignal === signal;
  }

  /** Deletes what is recorded of the call; nothing more is. */
  async eraseRecording(): Promise<void> {
    if (this.#media) await this.#media.eraseRecording();
    else this.#call = { ...this.#call, recordedMs: null };
  }

  /** The line went offline. */
  lineDown(reason: string): void {
    this.#framesAtLineDown = this.#inboundFrames;
    this.#post({ type: "line_down", reason });
  }

  /** The line is back. */
  lineUp(): void {
    this.#post({ type: "line_up", flowing: this.#inboundFrames > this.#framesAtLineDown });
  }

  get #inboundFrames(): number {
    return this.#media?.inboundFrames ?? 0;
  }

  #post(signal: CallSignal): void {
    this.#mailbox.post({ signal, at: this.#context.system.now() });
  }

  #begin(): void {
    try {
      programOf(this.#call).check?.(this.#context, this.#call);
    } catch (error) {
      const reason = error instanceof ProgramFailed ? error.reason : "internal_error";
      this.#post({ type: "end", reason, detail: messageOf(error) });
      return;
    }
    if (this.#rules.streamed) this.#context.streams.of(this.#context, this.#call).begin((signal) => this.#post(signal));
    for (const effect of beginFlow(this.#rules).effects) if (effect.do === "timer") this.#arm(effect.name, effect.ms);
    this.#dialled = this.#dial();
  }

  /** Dials and passes on what the leg says; resolves when the leg exists or never will. */
  async #dial(): Promise<void> {
    const { signal } = this.#scope;
    const options = { callId: this.#call.id, ringTimeoutMs: this.#context.timings.ringTimeoutMs };
    try {
      await this.#insistOnAccess();
      const leg = await this.#line.dial(this.#call.targetPhone, options, signal);
      this.#leg = leg;
      if (this.#flow.phase === "over") return;
      this.#media = new CallMedia(this.#context, this.#call, leg, this.#telephony.capabilities, (s) => this.#post(s));
      void this.#media.prepare(signal);
      void this.#follow(leg);
    } catch (error) {
      const cause = releaseOf(error);
      if (error instanceof DialError && error.retryAfterMs !== undefined)
        this.#lineFull = { until: this.#context.system.now() + Math.max(0, error.retryAfterMs), reason: error.message };
      if (cause === "internal_error")
        this.#context.log.error({ call_id: this.#call.id, err: error }, "dialling failed");
      this.#post({ type: "leg_ended", cause, detail: messageOf(error) });
    }
  }

  /** @throws {DialError} the owner of the instance may not use this network, or no longer */
  async #insistOnAccess(): Promise<void> {
    const { userId } = this.#call;
    const { name, users } = this.#telephony;
    if (users === undefined || users === "*" || (await this.#context.access.isOpenTo(userId, this.#telephony))) return;
    throw new DialError(
      "rejected_by_network",
      `not dialled: user "${userId}" may not use "${name}"; whoever runs the server can add the id to its "users"`,
    );
  }

  async #follow(leg: Leg): Promise<void> {
    try {
      for await (const event of leg.events) this.#post(signalOf(event));
      // After "ended" this means nothing; without it the call would never be over.
      this.#post({ type: "leg_ended", cause: "internal_error", detail: "the leg fell silent" });
    } catch (error) {
      this.#post({ type: "leg_ended", cause: "internal_error", detail: messageOf(error) });
    }
  }

  async #carryOut(effect: CallEffect): Promise<void> {
    switch (effect.do) {
      case "move":
        return this.#move(effect.input);
      case "conclude":
        return this.#conclude(effect);
      case "requeue":
        await this.#write({ owner: null }, []);
        this.#context.streams.find(this.#call.id)?.wait();
        return this.#close();
      case "hang_up":
        return this.#hangUp();
      case "timer":
        return this.#arm(effect.name, effect.ms);
      case "cancel":
        this.#timers.get(effect.name)?.();
        return void this.#timers.delete(effect.name);
      case "note":
        return this.#note(effect.event, effect.data);
    }
  }

  async #move(input: "place" | "connect"): Promise<void> {
    const { events } = this.#context;
    const status = this.#next(input);
    if (input === "connect") this.#answered = true;
    const patch: CallPatch = input === "connect" ? { status, startedAt: this.#at } : { status };
    const type = input === "connect" ? "answered" : "ringing";
    await this.#write(patch, [events.event(type, this.#subject(), {}, this.#at)]);
  }

  async #conclude({ input, reason, detail }: Extract<CallEffect, { do: "conclude" }>): Promise<void> {
    const { system, tally, events } = this.#context;
    const last = this.#media?.finish() ?? [];
    // The far side ends the call when it says so; we end it now, however long the reason has waited.
    const endedAt = this.#lastSignal?.type === "leg_ended" ? this.#at : system.now();
    const outcome: Outcome = {
      reason,
      detail,
      answeredBy: this.#answered ? "unknown" : null,
      ...(this.#media?.heard() ?? nothingHeard(this.#call)),
      durationMs: this.#call.startedAt === null ? 0 : Math.max(0, endedAt - this.#call.startedAt),
    };
    const status = this.#next(input);
    const lastWords = this.#media?.lastWords();
    if (lastWords) await lastWords;
    const { recordedMs } = this.#media ?? this.#call;
    await this.#write({ status, outcome, endedAt, mediaStatistics: this.#statistics, recordedMs }, [
      ...last.map(({ event, data }) => events.event(event, this.#subject(), data, endedAt)),
      events.event(finalEvent(status), this.#subject(), outcomeView(outcome), endedAt),
    ]);
    tally.callEnded(status, reason);
    this.#resolveStored(true);
    this.#close();
  }

  /** Fails a call that its session cannot carry on, unless somebody else has moved it. Never rejects. */
  async #giveUp(fault: unknown): Promise<void> {
    const { storage, nodeId, log } = this.#context;
    const { id } = this.#call;
    try {
      await insist(this.#context, `call ${id}`, async () => {
        const call = await storage.calls.get(id);
        if (call?.owner === nodeId) await failCall(this.#context, call, "internal_error", messageOf(fault));
      });
    } catch (error) {
      log.error({ call_id: id, err: error }, "the call could not be failed; the next start settles it");
    }
  }

  #takeStatistics(): MediaStatistics | null {
    try {
      return this.#leg?.statistics?.() ?? null;
    } catch (error) {
      this.#context.log.warn({ call_id: this.#call.id, err: error }, "the network could not tell how the audio went");
      return null;
    }
  }

  #next(input: CallInput): Call["status"] {
    const status = nextState(CALL_TRANSITIONS, this.#call.status, input);
    if (!status) throw new Error(`a ${this.#call.status} call has no move "${input}"`);
    return status;
  }

  /** A call whose end is not stored is not over, so this insists. */
  async #write(patch: CallPatch, events: Event[]): Promise<void> {
    const missing = await insist(this.#context, `call ${this.#call.id}`, () => this.#missing());
    const written = await storeCall(this.#context, this.#call, patch, [...missing, ...events]);
    if (!written) throw new Error(`call ${this.#call.id} was changed by somebody else`);
    this.#call = written;
    this.#saved(events);
  }

  async #note(type: EventType, data: EventData): Promise<void> {
    const { storage, events } = this.#context;
    const event = events.event(type, this.#subject(), data, this.#at);
    try {
      await storage.events.append([...(await this.#missing()), event]);
      this.#saved([event]);
    } catch {
      this.#unsaved.push(event);
    }
  }

  /** Which of the unsaved events are not stored: a write whose answer was lost on the way was done all the same. */
  async #missing(): Promise<Event[]> {
    if (this.#unsaved.length === 0) return [];
    const stored = new Set((await this.#context.storage.events.ofCall(this.#call.id, {})).map(({ id }) => id));
    return this.#unsaved.filter(({ id }) => !stored.has(id));
  }

  /** Everything is stored, these events last. */
  #saved(events: readonly Event[]): void {
    const all = [...this.#unsaved, ...events];
    this.#unsaved = [];
    this.#context.events.publish(all);
  }

  #arm(name: TimerName, ms: number): void {
    this.#timers.get(name)?.();
    const before = this.#inboundFrames;
    const fire = () => this.#post({ type: "timer", name, flowing: this.#inboundFrames > before });
    this.#timers.set(name, this.#context.system.after(ms, fire));
  }

  /** Hangs up once; the leg has `releaseTimeoutMs` to be gone. */
  #hangUp(): void {
    this.#scope.abort();
    if (this.#released) return;
    const { system, timings, log } = this.#context;
    this.#released = new Promise<void>((resolve) => {
      const cancel = system.after(timings.releaseTimeoutMs, () => {
        log.warn({ call_id: this.#call.id }, "the leg did not end in time; letting go of it");
        resolve();
      });
      const gone = () => {
        cancel();
        resolve();
      };
      this.#dialled.then(() => this.#leg?.hangUp()).then(gone, gone);
    });
  }

  #close(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#mailbox.close();
  }

  #subject(): { callId: string; instanceId: string; userId: string } {
    return { callId: this.#call.id, instanceId: this.#call.instanceId, userId: this.#call.userId };
  }
}

function signalOf(event: LegEvent): CallSignal {
  switch (event.type) {
    case "dtmf":
      return { type: "noticed", event: "dtmf", data: { digit: event.digit } };
    case "noted":
      return { type: "noticed", event: event.event, data: event.data };
    case "ended":
      return { type: "leg_ended", cause: event.cause, detail: event.detail };
    case "early_media":
      return { type: "alerting" };
    default:
      return event;
  }
}

function releaseOf(fault: unknown): ReleaseCause {
  if (fault instanceof DialError) return fault.release;
  // Nobody was asked yet, so the call can wait for the database.
  return fault instanceof StorageUnavailable ? "line_lost" : "internal_error";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
