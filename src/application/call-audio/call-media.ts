import { Playout, type PlayoutTap } from "../../audio/playout.ts";
import type { Call } from "../../domain/call.ts";
import type { CallSignal } from "../../domain/call-flow.ts";
import type { EventData, EventType } from "../../domain/events.ts";
import type { HeardEvidence } from "../../domain/outcome.ts";
import type { FrameSink } from "../../ports/media.ts";
import type { Leg, MediaEvidence, TelephonyCapabilities } from "../../ports/telephony.ts";
import { KeyMerger } from "../calls/key-merger.ts";
import type { Context } from "../context.ts";
import { InboundAnalyzer } from "./inbound-analyzer.ts";
import type { Message } from "./programs/message.ts";
import { type CallTap, ProgramFailed, programOf } from "./programs/program.ts";
import { Recorder } from "./recorder.ts";

/** A shorter silence before or within the message is no event, ms. */
const SHORTEST_DELAY_MS = 200;

/** What the callee has heard of the message. */
export interface Heard {
  /** ms of the message that were played. */
  readonly heardMs: number;
  /** Share of the message that was played, 0 to 1; null for a call without a fixed message, and if it is not known. */
  readonly heardRatio: number | null;
  readonly heardEvidence: HeardEvidence;
}

/** Something the ear noticed. */
export interface Noticed {
  readonly event: EventType;
  readonly data: EventData;
}

/** The two directions of audio on one leg: the message to the callee, and an ear for what comes back. */
export class CallMedia {
  readonly #context: Context;
  readonly #call: Call;
  readonly #message: Message | undefined;
  readonly #leg: Leg;
  readonly #post: (signal: CallSignal) => void;
  readonly #playout: Playout;
  readonly #ear: InboundAnalyzer;
  readonly #keys: KeyMerger;
  readonly #live: CallTap | undefined;
  readonly #recorder: Recorder | undefined;
  /** What is noticed while the call is being closed, when nobody reads signals any more. */
  #last: Noticed[] | undefined;

  constructor(
    context: Context,
    call: Call,
    message: Message | undefined,
    leg: Leg,
    capabilities: TelephonyCapabilities,
    post: (signal: CallSignal) => void,
  ) {
    this.#context = context;
    this.#call = call;
    this.#message = message;
    this.#leg = leg;
    this.#post = post;
    this.#playout = new Playout(leg.sampleRate);
    if (message) this.#playout.onDelay = (atMs, silenceMs) => this.#delayed(atMs, silenceMs);
    const { sampleRate } = leg;
    const { voiceActivity } = context;
    const inBandDtmf = (): boolean => (leg.dtmf ?? capabilities.dtmf) === "in-band";
    this.#keys = new KeyMerger(inBandDtmf);
    this.#ear = new InboundAnalyzer(
      { sampleRate, inBandDtmf, voiceActivity },
      {
        firstAudio: () => post({ type: "inbound_audio" }),
        digit: (digit, atMs) => {
          if (this.#keys.heard(digit, context.system.monotonic()))
            this.#notice({ event: "dtmf", data: { digit, at_ms: atMs } });
        },
        speech: (startMs, endMs) =>
          this.#notice({ event: "callee_speech", data: { start_ms: startMs, end_ms: endMs } }),
        beep: (hz, atMs) => this.#notice({ event: "beep", data: { hz, at_ms: atMs } }),
      },
    );
    const live = programOf(call).live?.(context, call, { leg, playout: this.#playout });
    this.#live = live;
    if (call.recordedMs !== null)
      this.#recorder = new Recorder(context, call.id, leg, (data) =>
        this.#notice({ event: "recording_incomplete", data }),
      );
    const recorder = this.#recorder;
    this.#playout.tap = live && recorder ? new BothTaps(live.sent, recorder) : (live?.sent ?? recorder);
    const ears = live ? new BothSinks(this.#ear, live.callee) : this.#ear;
    leg.connectMedia(this.#playout, recorder ? new BothSinks(ears, recorder) : ears);
  }

  /** Takes the message into the playout while the phone rings; reports when all of it is ready, and when heard. */
  async play(signal: AbortSignal): Promise<void> {
    const { timings } = this.#context;
    const playout = this.#playout;
    if (this.#message === undefined) return;
    try {
      for await (const samples of this.#message.samples(playout)) {
        if (signal.aborted) return;
        playout.enqueue(samples);
      }
      if (signal.aborted) return;
      this.#post({ type: "message_ready", messageMs: playout.enqueuedMs });
      playout.silence(timings.tailMs);
      playout.end();
      await playout.drained;
      this.#post({ type: "message_played" });
    } catch (error) {
      if (signal.aborted) return;
      const reason = error instanceof ProgramFailed ? error.reason : "internal_error";
      this.#post({ type: "message_failed", reason, detail: error instanceof Error ? error.message : String(error) });
    }
  }

  /** Whether a key that the network reports is a new one, and was not heard as a tone before. */
  isNewKey(digit: string): boolean {
    return this.#keys.reported(digit, this.#context.system.monotonic());
  }

  /** Frames of inbound audio so far. */
  get inboundFrames(): number {
    return this.#ear.frames;
  }

  /** Nothing shows that the callee's side received our audio, and something had to. */
  get unproven(): boolean {
    const { kind, required } = this.#evidence;
    return required && kind === "none";
  }

  get #evidence(): MediaEvidence {
    const reported = this.#leg.evidence?.() ?? { kind: "none", required: false };
    // What a worker reports may be older than the audio that came from it.
    return this.#ear.frames > 0 ? { ...reported, kind: "inbound" } : reported;
  }

  /** What the callee has heard so far. */
  heard(): Heard {
    const { heardMs, enqueuedMs } = this.#playout;
    const fixed = this.#call.message.type === "FIXED_TTS" || this.#call.message.type === "FIXED_AUDIO";
    const share = enqueuedMs === 0 ? 0 : Math.min(1, Math.round((heardMs / enqueuedMs) * 10_000) / 10_000);
    const { kind } = this.#evidence;
    const unknown = kind === "none" && heardMs > 0 && this.#leg.evidence !== undefined;
    return { heardMs, heardRatio: fixed && !unknown ? share : null, heardEvidence: kind };
  }

  /** Length of the recording once everything is finished, ms; null where there is none. */
  get recordedMs(): number | null {
    return this.#recorder?.finish() ?? null;
  }

  /** Deletes what is recorded; nothing more is. */
  async eraseRecording(): Promise<void> {
    await this.#recorder?.erase();
  }

  /** Stops the message and the recording; answers what the ear had not reported yet. */
  finish(): readonly Noticed[] {
    this.#last = [];
    this.#ear.finish();
    this.#playout.supply = undefined;
    this.#playout.clear();
    this.#recorder?.finish();
    return this.#last;
  }

  /** What waits for what was said last; undefined where nobody listens for that. */
  lastWords(): Promise<void> | undefined {
    return this.#live?.lastWords?.();
  }

  /** The callee has waited in silence for what was not rendered yet. */
  #delayed(atMs: number, silenceMs: number): void {
    if (silenceMs < SHORTEST_DELAY_MS) return;
    this.#notice({ event: "message_delayed", data: { at_ms: atMs, silence_ms: silenceMs } });
  }

  #notice(noticed: Noticed): void {
    if (this.#last) this.#last.push(noticed);
    else this.#post({ type: "noticed", ...noticed });
  }
}

/** Two who listen to the same frames. */
class BothSinks implements FrameSink {
  readonly #first: FrameSink;
  readonly #second: FrameSink;

  constructor(first: FrameSink, second: FrameSink) {
    this.#first = first;
    this.#second = second;
  }

  write(frame: Int16Array): void {
    this.#first.write(frame);
    this.#second.write(frame);
  }
}

/** Two who are told what the callee hears. */
class BothTaps implements PlayoutTap {
  readonly #first: PlayoutTap;
  readonly #second: PlayoutTap;

  constructor(first: PlayoutTap, second: PlayoutTap) {
    this.#first = first;
    this.#second = second;
  }

  played(samples: Int16Array | undefined, from: number, length: number): void {
    this.#first.played(samples, from, length);
    this.#second.played(samples, from, length);
  }
}
