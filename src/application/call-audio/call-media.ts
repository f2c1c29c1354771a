import { AlignedChannels, type TakeChannels } from "../../audio/playout/aligned-channels.ts";
import { Playout } from "../../audio/playout/playout.ts";
import type { TurnMetrics } from "../../domain/agents/turn-metrics.ts";
import { introductionOf } from "../../domain/answering/screening-policy.ts";
import { type Call, type CallResult, machinePolicyOf, screeningPolicyOf } from "../../domain/calls/call.ts";
import type { CallSignal, PersonWait } from "../../domain/calls/call-signal.ts";
import { heardShare, heardWith } from "../../domain/calls/heard.ts";
import type { Heard } from "../../domain/calls/outcome.ts";
import { type Fact, textSkipped } from "../../domain/events.ts";
import type { Leg, MediaEvidence, Telephony } from "../../ports/telephony.ts";
import { KeyMerger } from "../calls/live/key-merger.ts";
import type { Context } from "../context.ts";
import { AnswerAnalyzer } from "./answer-analyzer.ts";
import { CallOpening } from "./call-opening.ts";
import { type CallTap, CallTaps } from "./call-tap.ts";
import { programOf } from "./call-types/all-call-types.ts";
import type { LiveConnection, LiveParts, ProgramContext } from "./call-types/call-type-program.ts";
import type { PreparedMessage } from "./call-types/prepared-message.ts";
import { InboundAnalyzer } from "./inbound-analyzer.ts";
import { MessagePlayer } from "./message-player.ts";
import { PersonWatch } from "./person-watch.ts";
import { Recorder } from "./recorder.ts";
import { introduce } from "./screening-introduction.ts";
import { CallTranscripts, type TranscriptReader } from "./transcripts/call-transcripts.ts";

/** Dependencies of {@link CallMedia}. */
export type CallMediaContext = Pick<
  Context,
  "limits" | "log" | "recordingQuota" | "recordings" | "storage" | "system" | "timings" | "voiceActivity"
> &
  ProgramContext;

/**
 * Number of missing frames after which the followers of a call get silence for a direction instead of waiting for it.
 */
const MAX_MISSING_FRAMES = 3;

/** The cause of a failed call, in words. */
export const NO_EVIDENCE = "there is no evidence that the callee's side received our audio";

/** Media prepared before a call was dialled. */
export interface PreparedMedia {
  /** The fixed message, if the call has one. */
  readonly message: PreparedMessage | undefined;
  /** Connection of a live call, in place of its program's `connect`. */
  readonly connection?: LiveConnection | undefined;
}

/** The audio of a followed call. */
export interface FollowedAudio {
  /** Sample rate of each channel, Hz. */
  readonly sampleRate: number;
  /** Flushes the rest and stops. Idempotent. */
  stop(): void;
}

/** Something that was detected in the audio of a call. */
export type AudioFact = Fact<
  "dtmf" | "callee_speech" | "beep" | "message_delayed" | "text_skipped" | "recording_incomplete"
>;

/**
 * The audio of one leg in both directions: plays the message to the callee, and analyzes and records the inbound audio.
 */
export class CallMedia {
  /** The part before the audio of the call; undefined if there is none. */
  readonly opening: CallOpening | undefined;
  readonly #context: CallMediaContext;
  readonly #call: Call;
  readonly #message: MessagePlayer | undefined;
  readonly #preparedMessage: PreparedMessage | undefined;
  readonly #leg: Leg;
  readonly #post: (signal: CallSignal) => void;
  readonly #playout: Playout;
  readonly #inbound: InboundAnalyzer;
  readonly #answer: AnswerAnalyzer;
  readonly #person: PersonWatch;
  /** Aborted when the current wait for a person ends. */
  #introduction = new AbortController();
  readonly #keys: KeyMerger;
  readonly #taps: CallTaps;
  readonly #liveParts: LiveParts | undefined;
  readonly #recorder: Recorder | undefined;
  /** Collects events from {@link end} on, when the session has stopped reading signals. */
  #lastFacts: AudioFact[] | undefined;

  constructor(
    context: CallMediaContext,
    call: Call,
    { message, connection }: PreparedMedia,
    leg: Leg,
    network: Telephony,
    post: (signal: CallSignal) => void,
  ) {
    this.#context = context;
    this.#call = call;
    this.#leg = leg;
    this.#post = post;
    this.#playout = new Playout(leg.sampleRate);
    this.#preparedMessage = message;
    message?.onSkipped?.((passage) => this.#report(textSkipped(passage)));
    if (message)
      this.#message = new MessagePlayer(message, {
        playout: this.#playout,
        tailMs: context.timings.tailMs,
        post,
        onDelay: (atMs, silence_ms) => {
          const at_ms = atMs + (this.opening?.lengthMs ?? 0);
          this.#report({ event: "message_delayed", data: { at_ms, silence_ms } });
        },
      });
    const { sampleRate } = leg;
    const { voiceActivity } = context;
    const inBandDtmf = (): boolean => (leg.dtmf ?? network.capabilities.dtmf) === "in-band";
    this.#keys = new KeyMerger(inBandDtmf);
    this.#inbound = new InboundAnalyzer(
      { sampleRate, inBandDtmf, voiceActivity },
      {
        onFirstAudio: () => post({ type: "inbound_audio" }),
        onDigit: (digit, atMs) => {
          if (!this.#keys.acceptHeard(digit, context.system.monotonic())) return;
          this.#answer.key();
          this.#report({ event: "dtmf", data: { digit, at_ms: atMs } });
        },
        onSpeech: (startMs, endMs) =>
          this.#report({ event: "callee_speech", data: { start_ms: startMs, end_ms: endMs } }),
        onBeep: (hz, atMs) => {
          this.#report({ event: "beep", data: { hz, at_ms: atMs } });
          this.#answer.beep(hz, atMs);
        },
        onLineTone: (finding) => post({ type: "line_tone", finding, verdict: this.#answer.tone(finding) }),
        onSuspicionChange: (isSuspicious) => post({ type: "tone_suspected", isSuspected: isSuspicious }),
      },
    );
    this.#answer = new AnswerAnalyzer(this.#inbound, sampleRate, {
      onAnswer: (verdict) => post({ type: "answered_by", verdict }),
      onGreetingEnd: (end) => post({ type: "greeting_over", end }),
      onSettled: () => this.#onSettled(),
    });
    this.#person = new PersonWatch(this.#inbound, sampleRate, {
      onPromptEnd: () => this.#introduce(),
      onPerson: () => post({ type: "person_came", verdict: this.#answer.person() }),
    });
    const audio = { leg, playout: this.#playout, callee: this.#inbound, post };
    this.opening = CallOpening.create(context, call, audio);
    const program = programOf(call);
    if (program.kind === "live") {
      const words = (text: string) => this.#answer.words(text);
      const media = { ...audio, network, words };
      this.#liveParts = connection ? connection(media) : program.connect(context, call, media);
    }
    if (call.recordedMs !== null)
      this.#recorder = new Recorder(context, call, leg, (data) =>
        this.#report({ event: "recording_incomplete", data }),
      );
    const transcripts = this.#isScreened ? this.#screeningTranscripts(sampleRate) : undefined;
    this.#taps = new CallTaps(sampleRate, [
      this.#inbound,
      this.#answer,
      this.#person,
      ...(transcripts ? [transcripts] : []),
      ...(this.opening ? [this.opening.tap] : []),
      ...(this.#liveParts?.taps ?? []),
      ...(this.#recorder ? [this.#recorder] : []),
    ]);
    this.#followOutbound();
    leg.connectMedia(this.opening?.source ?? this.#playout, this.#taps);
  }

  /** Queues the message while the phone rings; posts a signal when all of it is ready, and when it has been played. */
  async play(signal: AbortSignal): Promise<void> {
    await this.#message?.play(signal);
  }

  /** Stops the message, and reports when a person takes the call; before that, an assistant gets the introduction. */
  awaitPerson(wait: PersonWait): void {
    this.opening?.end();
    this.#message?.stop();
    this.#introduction = new AbortController();
    this.#person.awaitPerson(wait);
  }

  /** Stops the message, and reports when the answering machine starts to record. */
  awaitVoicemail(): void {
    this.#stopAwaitingPerson();
    this.opening?.end();
    this.#message?.stop();
    this.#liveParts?.awaitVoicemail?.();
    this.#answer.awaitRecording();
  }

  /** Leaves the message, once the machine records. */
  leaveMessage(): void {
    this.#stopAwaitingPerson();
    this.#message?.playAgain();
    this.#liveParts?.leaveMessage?.();
  }

  /** Stops the message of a call that no person has answered; the part already played is treated as unheard. */
  discardMessage(): void {
    this.#stopAwaitingPerson();
    this.#message?.stop();
  }

  /** True if a key that the network reports is new, rather than already detected as a tone. */
  isNewKey(digit: string): boolean {
    const isNew = this.#keys.acceptReported(digit, this.#context.system.monotonic());
    if (isNew) this.#answer.key();
    return isNew;
  }

  /** Number of inbound frames so far. */
  get inboundFrames(): number {
    return this.#inbound.frames;
  }

  /**
   * The cause of missing evidence that the callee's side received our audio, if evidence is required; otherwise
   * undefined.
   */
  get missingEvidence(): string | undefined {
    const { kind, required, missing = NO_EVIDENCE } = this.#evidence;
    return required && kind === "none" ? missing : undefined;
  }

  get #evidence(): MediaEvidence {
    const evidence = this.#leg.evidence?.() ?? { kind: "none", required: false };
    // The report may be older than the audio.
    return this.#inbound.frames > 0 && !evidence.judgesAudio ? { ...evidence, kind: "inbound" } : evidence;
  }

  /**
   * Passes both directions on, aligned in time, until `stop` is called.
   * @param receive receives the callee on the left and the outbound audio on the right
   * @param pieceMs shortest piece that is passed on, ms
   */
  follow(receive: TakeChannels, pieceMs: number): FollowedAudio {
    const { sampleRate, frameMs } = this.#leg;
    const channels = new AlignedChannels(sampleRate, frameMs, receive, {
      blockMs: pieceMs,
      silentAfterMs: MAX_MISSING_FRAMES * frameMs,
    });
    const now = (): number => this.#context.system.monotonic();
    const remove = this.#taps.add({
      inbound: (frame) => channels.pushLeft(frame, 0, frame.length, now()),
      outbound: (samples, from, length) => channels.pushRight(samples, from, length, now()),
    });
    this.#followOutbound();
    return {
      sampleRate,
      stop: () => {
        remove();
        channels.finish();
        this.#followOutbound();
      },
    };
  }

  /**
   * Length of audio heard by the callee of an answered call that lasted `durationMs`: the last frame may outlast the
   * call.
   */
  heardOf(durationMs: number): Heard {
    const source = this.#message ?? this.#playout;
    const heardMs = Math.min(source.heardMs, durationMs);
    const isFixed = programOf(this.#call).kind === "message";
    const share = isFixed ? heardShare(heardMs, source.enqueuedMs, this.#preparedMessage?.playableShare ?? 1) : null;
    return heardWith(this.#evidence.kind, heardMs, share);
  }

  /** Result reported on the call so far; undefined if none. */
  get result(): CallResult | undefined {
    return this.#liveParts?.result?.();
  }

  /** Result according to the call's schema, after the call has ended; undefined if none was requested. */
  get findings(): ReturnType<NonNullable<LiveParts["findings"]>> {
    return this.#liveParts?.findings?.();
  }

  /** The turns of an agent; undefined if no agent conducts the call. */
  get turns(): readonly TurnMetrics[] | undefined {
    return this.#liveParts?.turns?.();
  }

  /** Length of the finished recording, ms; null if the call is not recorded. */
  get recordedMs(): number | null {
    return this.#recorder?.finish() ?? null;
  }

  /** Deletes the recording and stops it permanently. */
  async eraseRecording(): Promise<void> {
    await this.#recorder?.erase();
  }

  /**
   * Stops the message, the recording and the taps, which follow the call by its id and would otherwise take part in its
   * next attempt. Returns the events that were still pending; `flushed` resolves when everything transcribed has been
   * delivered, and is undefined if there is nothing to deliver.
   */
  end(): { readonly lastFacts: readonly AudioFact[]; readonly flushed: Promise<unknown> | undefined } {
    this.#lastFacts = [];
    this.#inbound.finish();
    this.#stopAwaitingPerson();
    this.#playout.supply = undefined;
    this.#playout.clear();
    this.#recorder?.finish();
    return { lastFacts: this.#lastFacts, flushed: this.#taps.flush() };
  }

  /** Frees the message, unless a machine or a person may still get it again. */
  #onSettled(): void {
    const { message } = this.#call;
    const mayReplay = machinePolicyOf(message) === "leave_message" || introductionOf(screeningPolicyOf(message));
    if (!mayReplay && !this.#person.isWaiting) this.#message?.forget();
  }

  #stopAwaitingPerson(): void {
    this.#person.stop();
    this.#introduction.abort();
  }

  /** Transcribes the callee of a fixed message, to recognise an assistant, and then a person. */
  #screeningTranscripts(legRate: number): CallTap {
    const reader: TranscriptReader = {
      transcript: ({ text, final }) => {
        this.#answer.words(text);
        if (final) this.#person.words(text);
      },
      emit() {},
    };
    return new CallTranscripts(this.#context, this.#call, reader, legRate, ["callee"]);
  }

  get #isScreened(): boolean {
    const { message } = this.#call;
    return programOf(this.#call).kind === "message" && screeningPolicyOf(message) !== "continue";
  }

  #introduce(): void {
    const introduction = introductionOf(screeningPolicyOf(this.#call.message));
    const onSpoken = () => this.#person.onIntroductionPlayed();
    if (introduction === undefined) onSpoken();
    else void introduce(this.#context, this.#call, introduction, this.#playout, onSpoken, this.#introduction.signal);
  }

  #followOutbound(): void {
    const tap = this.#taps.followsOutbound ? this.#taps : undefined;
    this.#playout.tap = tap;
    if (this.opening) this.opening.outbound = tap;
  }

  #report(fact: AudioFact): void {
    if (this.#lastFacts) this.#lastFacts.push(fact);
    else this.#post({ type: "noticed", fact });
  }
}
