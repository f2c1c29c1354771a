import type { Call } from "../domain/call.ts";
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
import type { MediaStatistics } from "../domain/media-statistics.ts";
import type { FailedReason, Outcome } from "../domain/outcome.ts";
import type { ReleaseCause } from "../domain/release-cause.ts";
import { StorageUnavailable } from "../ports/storage.ts";
import { DialError, type Leg, type Line, type Telephony } from "../ports/telephony.ts";
import { CallMedia } from "./call-media.ts";
import type { Context } from "./context.ts";
import { legSignals } from "./leg-signals.ts";
import { Mailbox } from "./mailbox.ts";
import { nothingHeard } from "./outcomes.ts";
import { ProgramFailed, programOf } from "./programs/program.ts";
import { WrittenCall } from "./written-call.ts";

/**
 * One live call: dials, carries the message, has every move of the call written, and ends.
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
  readonly #written: WrittenCall;
  #flow: CallFlow = NEW_FLOW;
  #leg: Leg | undefined;
  #media: CallMedia | undefined;
  #dialled: Promise<void> = Promise.resolve();
  #released: Promise<void> | undefined;
  #statistics: MediaStatistics | null = null;
  #framesAtLineDown = 0;
  /** When the signal that is being carried out was given; the storage may have kept it waiting. */
  #at = 0;
  /** The signal that ended the call. */
  #lastSignal: CallSignal | undefined;
  #lineFull: { readonly until: number; readonly reason: string } | undefined;

  /** @param call claimed by this process */
  constructor(context: Context, call: Call, telephony: Telephony, line: Line) {
    this.#context = context;
    this.#written = new WrittenCall(context, call);
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
    return this.#written.id;
  }

  /** The call as it was last written; without an owner it waits again, because the line was gone. */
  get call(): Call {
    return this.#written.call;
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
      this.#context.log.error({ call_id: this.callId, err: error }, "the call session broke off");
      this.#flow = { ...this.#flow, phase: "over" };
      this.#media?.finish();
      this.#hangUp();
      this.#close();
      await this.#written.giveUp(messageOf(error));
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
    else this.#written.eraseRecording();
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
      programOf(this.call).check?.(this.#context, this.call);
    } catch (error) {
      const reason = error instanceof ProgramFailed ? error.reason : "internal_error";
      this.#post({ type: "end", reason, detail: messageOf(error) });
      return;
    }
    if (this.#rules.streamed) this.#context.streams.of(this.#context, this.call).begin((signal) => this.#post(signal));
    for (const effect of beginFlow(this.#rules).effects) if (effect.do === "timer") this.#arm(effect.name, effect.ms);
    this.#dialled = this.#dial();
  }

  /** Dials and passes on what the leg says; resolves when the leg exists or never will. */
  async #dial(): Promise<void> {
    const { signal } = this.#scope;
    const options = { callId: this.callId, ringTimeoutMs: this.#context.timings.ringTimeoutMs };
    try {
      await this.#context.access.assertOpenTo(this.call.userId, this.#telephony);
      const leg = await this.#line.dial(this.call.targetPhone, options, signal);
      this.#leg = leg;
      if (this.#flow.phase === "over") return;
      this.#media = new CallMedia(this.#context, this.call, leg, this.#telephony.capabilities, (s) => this.#post(s));
      void this.#media.prepare(signal);
      void this.#follow(leg);
    } catch (error) {
      const cause = releaseOf(error);
      if (error instanceof DialError && error.retryAfterMs !== undefined)
        this.#lineFull = { until: this.#context.system.now() + Math.max(0, error.retryAfterMs), reason: error.message };
      if (cause === "internal_error") this.#context.log.error({ call_id: this.callId, err: error }, "dialling failed");
      this.#post({ type: "leg_ended", cause, detail: messageOf(error) });
    }
  }

  async #follow(leg: Leg): Promise<void> {
    for await (const signal of legSignals(leg)) this.#post(signal);
  }

  async #carryOut(effect: CallEffect): Promise<void> {
    switch (effect.do) {
      case "move":
        return this.#written.move(effect.input, this.#at);
      case "conclude":
        return this.#conclude(effect);
      case "requeue":
        await this.#written.requeue();
        this.#context.streams.find(this.callId)?.wait();
        return this.#close();
      case "hang_up":
        return this.#hangUp();
      case "timer":
        return this.#arm(effect.name, effect.ms);
      case "cancel":
        this.#timers.get(effect.name)?.();
        return void this.#timers.delete(effect.name);
      case "note":
        return this.#written.note(effect.event, effect.data, this.#at);
    }
  }

  async #conclude({ input, reason, detail }: Extract<CallEffect, { do: "conclude" }>): Promise<void> {
    const { call } = this;
    const last = this.#media?.finish() ?? [];
    // The far side ends the call when it says so; we end it now, however long the reason has waited.
    const endedAt = this.#lastSignal?.type === "leg_ended" ? this.#at : this.#context.system.now();
    const outcome: Outcome = {
      reason,
      detail,
      answeredBy: call.startedAt === null ? null : "unknown",
      ...(this.#media?.heard() ?? nothingHeard(call)),
      durationMs: call.startedAt === null ? 0 : Math.max(0, endedAt - call.startedAt),
    };
    const lastWords = this.#media?.lastWords();
    if (lastWords) await lastWords;
    const { recordedMs } = this.#media ?? this.call;
    await this.#written.end({ input, outcome, endedAt, mediaStatistics: this.#statistics, recordedMs, last });
    this.#resolveStored(true);
    this.#close();
  }

  #takeStatistics(): MediaStatistics | null {
    try {
      return this.#leg?.statistics?.() ?? null;
    } catch (error) {
      this.#context.log.warn({ call_id: this.callId, err: error }, "the network could not tell how the audio went");
      return null;
    }
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
        log.warn({ call_id: this.callId }, "the leg did not end in time; letting go of it");
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
}

function releaseOf(fault: unknown): ReleaseCause {
  if (fault instanceof DialError) return fault.release;
  // Nobody was asked yet, so the call can wait for the database.
  return fault instanceof StorageUnavailable ? "line_lost" : "internal_error";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
