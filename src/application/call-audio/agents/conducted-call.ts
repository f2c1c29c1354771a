import { dtmfTones } from "../../../audio/tones/dtmf.ts";
import {
  type AgentTurnEffect,
  type AgentTurnInput,
  type AgentTurnState,
  decideAgentTurn,
  isMachineTurn,
  isOpenTurn,
} from "../../../domain/agents/agent-turn.ts";
import type { CallOf } from "../../../domain/calls/call.ts";
import type { CallSignal } from "../../../domain/calls/call-signal.ts";
import { timingsOf } from "../../../domain/calls/call-timings.ts";
import { type Event, isFinalEvent } from "../../../domain/events.ts";
import type { Context } from "../../context.ts";
import type { LiveCallMedia } from "../call-types/call-type-program.ts";
import { AgentResult, type FindingsAtEnd, type Reporter } from "./agent-result.ts";
import { type CallTransferContext, type TransferFailed, transferCall } from "./call-transfer.ts";
import { SilenceTimer } from "./silence-timer.ts";
import { TurnMeter } from "./turn-meter.ts";

/** Dependencies of {@link ConductedCall}. */
export type ConductedCallContext = Pick<Context, "events" | "log" | "system" | "timings"> & CallTransferContext;

/** Time before the maximum duration at which the agent is asked to end the call, ms. */
const LAST_WORDS_MS = 10_000;

/** A kind of agent on a call: carries out effects on its speech and receives events. */
export interface Conductor extends Readonly<Record<AgentTurnEffect, () => void>> {
  /** Name for events and logs, such as `scripted`. */
  readonly name: string;
  /** Called when the callee has answered. */
  onAnswer?(): void;
  /** Called when the callee has pressed a key. */
  onKey(digit: string): void;
  /** Called when neither side has spoken while the agent was listening. */
  onSilence(): void;
  /** Called near the maximum duration: the agent says goodbye. */
  sayLastWords(): void;
  /** Called when a transfer has failed, and the call continues. */
  onTransferFailure(failure: TransferFailed): void;
}

/** A call conducted by an agent of either kind: its turns, their measurements, and all actions except speech. */
export class ConductedCall {
  readonly context: ConductedCallContext;
  readonly call: CallOf<"DYNAMIC_AGENT">;
  readonly media: LiveCallMedia;
  readonly meter: TurnMeter;
  readonly silence: SilenceTimer;
  readonly #conductor: Conductor;
  readonly #scope = new AbortController();
  readonly #unsubscribe: () => void;
  #turn: AgentTurnState = "open";
  #isTimeUp = false;
  #cancelLastWords: () => void = () => {};
  /** Result of the agent, requested at the end; undefined if the call has no schema for it. */
  #result: AgentResult | undefined;

  constructor(
    context: ConductedCallContext,
    call: CallOf<"DYNAMIC_AGENT">,
    media: LiveCallMedia,
    conductor: Conductor,
  ) {
    const { sampleRate } = media.leg;
    this.context = context;
    this.call = call;
    this.media = media;
    this.meter = new TurnMeter(sampleRate, () => context.system.monotonic());
    this.silence = new SilenceTimer(sampleRate, () => conductor.onSilence());
    this.#conductor = conductor;
    this.#unsubscribe = context.events.subscribeToLiveCall(call.id, {
      onEvent: (event) => this.#onEvent(event),
      onClose: () => this.stop(),
    });
  }

  get turn(): AgentTurnState {
    return this.#turn;
  }

  /** True if the agent pauses, because the callee may be interrupting. */
  get isHeld(): boolean {
    return this.#turn === "held";
  }

  /** True if the callee can no longer change what happens next. */
  get isDecided(): boolean {
    return !isOpenTurn(this.#turn);
  }

  /** True if a machine has answered. */
  get isMachine(): boolean {
    return isMachineTurn(this.#turn);
  }

  /** True if the end of the maximum duration is near. */
  get isTimeUp(): boolean {
    return this.#isTimeUp;
  }

  /** Aborted when the call ends. */
  get signal(): AbortSignal {
    return this.#scope.signal;
  }

  /** The agent's findings according to the call's schema, when the call has ended; undefined if none were requested. */
  get findings(): FindingsAtEnd | undefined {
    return this.#result?.atEnd();
  }

  /** Applies an input and carries out its effects; returns false if nothing changes. */
  apply(input: AgentTurnInput): boolean {
    const decision = decideAgentTurn(this.#turn, input);
    if (decision === undefined) return false;
    this.#turn = decision.state;
    for (const effect of decision.effects) this.#conductor[effect]();
    return true;
  }

  /** Asks this conversation for a result at the end, if the call has a schema for it. */
  setReporter(conversation: Reporter): void {
    const { resultSchema } = this.call.message;
    if (resultSchema) this.#result = new AgentResult(this.context, conversation, resultSchema);
  }

  /** Asks for the result; returns undefined if the call has no schema for it. */
  askResult(): Promise<unknown> | undefined {
    return this.#result?.ask();
  }

  /** Keeps the agent silent until the machine that has answered records. */
  onMachineGreeting(): void {
    this.silence.stop();
    this.apply("greet");
  }

  /** Sends keys; on a network without support, they are played as tones after the agent's words. */
  async press(keys: string): Promise<void> {
    const { leg, playout } = this.media;
    if (leg.sendDtmf === undefined) playout.enqueue(dtmfTones(keys, { sampleRate: leg.sampleRate }));
    else
      await leg.sendDtmf(keys).catch((error: unknown) => {
        this.context.log.warn({ call_id: this.call.id, err: error }, "the network did not send the keys");
      });
  }

  /**
   * Transfers the call, whose turn is `transferring`; resolves with false if the call continues. Rejects only with the
   * signal's reason.
   */
  async transfer(to: string): Promise<boolean> {
    const failure = await transferCall(this.context, this.call, this.media, to, this.signal);
    if (failure === undefined) return true;
    this.apply("transfer_failed");
    this.#conductor.onTransferFailure(failure);
    if (this.#isTimeUp) this.#conductor.sayLastWords();
    return false;
  }

  /** The signal for a call that the agent ends: the message has been played, unless the call's time is up. */
  hangUpSignal(detail: string | undefined): CallSignal {
    if (this.#isTimeUp) return { type: "timer", name: "duration", inboundSince: true };
    return { type: "message_played", detail };
  }

  /** Posts the end of the call once the last word, and a short silence, have been played. */
  endAfterLastWord(signal: CallSignal): void {
    this.whenPlayed(() => this.media.post(signal));
  }

  /** Calls back once everything said, and a short silence, have been played. */
  whenPlayed(callback: () => void): void {
    this.media.playout.silence(this.context.timings.tailMs);
    this.media.playout.mark("", callback);
  }

  /** Stops conducting: the call has ended. */
  stop(): void {
    if (this.signal.aborted) return;
    this.#unsubscribe();
    this.#cancelLastWords();
    this.#scope.abort();
    this.apply("stop");
  }

  #onEvent(event: Event): void {
    if (event.type === "answered") this.#onAnswer();
    else if (event.type === "dtmf") {
      this.meter.recordKey();
      this.#conductor.onKey(event.data.digit);
    } else if (isFinalEvent(event.type)) this.stop();
  }

  #onAnswer(): void {
    this.#conductor.onAnswer?.();
    this.media.post({ type: "noticed", fact: { event: "agent_started", data: { agent: this.#conductor.name } } });
    const { maxDurationMs } = timingsOf(this.call, this.context.timings);
    const delayMs = Math.max(maxDurationMs - LAST_WORDS_MS, maxDurationMs / 2);
    this.#cancelLastWords = this.context.system.after(delayMs, () => {
      this.#isTimeUp = true;
      this.#conductor.sayLastWords();
    });
  }
}
