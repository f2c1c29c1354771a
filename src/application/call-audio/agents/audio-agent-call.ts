import { errorText } from "../../../base/error-text.ts";
import type { CallOf, CallResult } from "../../../domain/call.ts";
import type { CallSignal } from "../../../domain/call-signal.ts";
import { type Event, isFinalEvent, textSkipped } from "../../../domain/events.ts";
import type { TurnMetrics } from "../../../domain/turn-metrics.ts";
import type { AudioAgent, AudioAgentEvent, AudioConversation } from "../../../ports/audio-conversation.ts";
import type { Context } from "../../context.ts";
import type { CallTap } from "../call-tap.ts";
import type { LiveMedia } from "../programs/program.ts";
import { AgentResult, type FindingsAtEnd } from "./agent-result.ts";
import { AgentSpeech } from "./agent-speech.ts";
import { formatOf } from "./audio-format.ts";
import { AudioListening } from "./audio-listening.ts";
import { CallControl } from "./call-control.ts";
import { transferCall } from "./call-transfer.ts";
import { IncomingAudio } from "./incoming-audio.ts";
import { ReplyAudio } from "./reply-audio.ts";
import { SilenceTimer } from "./silence-timer.ts";
import { TurnMeter } from "./turn-meter.ts";
import type { SpokenLine } from "./utterance.ts";

/** Who conducts a call, from before it is dialled. */
export interface OpenConversation {
  readonly agent: AudioAgent;
  readonly conversation: AudioConversation;
  /** Speaks an apology; undefined if no voice works. */
  readonly voiceId: string | undefined;
}

/**
 * Conducts one call by an agent in audio: paces what it says, stops it if the callee interrupts, and notifies it of how much
 * was heard. The leg's own clock measures how long nobody speaks.
 */
export class AudioAgentCall implements CallTap {
  readonly #context: Context;
  readonly #call: CallOf<"DYNAMIC_AGENT">;
  readonly #agent: AudioAgent;
  readonly #conversation: AudioConversation;
  readonly #media: LiveMedia;
  readonly #meter: TurnMeter;
  readonly #control: CallControl;
  readonly #silence: SilenceTimer;
  readonly #listening: AudioListening;
  readonly #audio: ReplyAudio;
  /** Speaks what the agent cannot say itself; undefined without a voice. */
  readonly #speech: AgentSpeech | undefined;
  readonly #scope = new AbortController();
  readonly #unlisten: () => void;
  /** What the agent sends; undefined until the callee answers. */
  #incoming: IncomingAudio | undefined;
  /** Asked at the end; undefined if the call has no schema for it. */
  readonly #result: AgentResult | undefined;
  /** The agent has decided that the call ends. */
  #ending = false;
  /** A machine has answered: the call waits until it records, or it does. */
  #machine: "greets" | "records" | undefined;
  /** The conversation has ended. */
  #closed = false;
  /** The callee is being connected with somebody else. */
  #transferring = false;
  /** Resolves when the keys so far have been sent. */
  #pressed: Promise<void> = Promise.resolve();

  constructor(context: Context, call: CallOf<"DYNAMIC_AGENT">, open: OpenConversation, media: LiveMedia) {
    const { leg, playout } = media;
    const { resultSchema } = call.message;
    this.#context = context;
    this.#call = call;
    this.#agent = open.agent;
    this.#conversation = open.conversation;
    if (resultSchema) this.#result = new AgentResult(context, open.conversation, resultSchema);
    this.#media = media;
    this.#meter = new TurnMeter(leg.sampleRate, () => context.system.monotonic());
    this.#control = new CallControl(context, call, media);
    this.#silence = new SilenceTimer(leg.sampleRate, () => this.#conversation.silence());
    this.#listening = new AudioListening(context, call, open.agent.transcribes, media, this.#meter, {
      interrupts: () => {
        if (!this.#audio.isHeard || this.#mustBeHeard) return;
        this.#audio.hold();
        this.#meter.held();
      },
      nothingSaid: () => this.#audio.release(),
    });
    const spoken = (line: SpokenLine): void => this.#listening.add(line);
    this.#audio = new ReplyAudio(playout, spoken);
    if (open.voiceId !== undefined)
      this.#speech = new AgentSpeech(context, call, open.voiceId, playout, {
        rendered: () => {},
        begun: () => {},
        spoken,
        skipped: (passage) => media.post({ type: "noticed", fact: textSkipped(passage) }),
      });
    this.#unlisten = context.events.listenLive(call.id, {
      event: (event) => this.#happened(event),
      over: () => this.#stop(),
    });
    void this.#run();
  }

  /** What the agent has found out so far; undefined if nothing. */
  get result(): CallResult | undefined {
    return this.#conversation.result;
  }

  /** What the agent has found out by the schema of the call, now that it is over; undefined if it was not asked. */
  get findings(): FindingsAtEnd | undefined {
    return this.#result?.atEnd();
  }

  /** The call is over: resolves when the agent has stated what it is asked for; undefined if that is nothing. */
  stated(): Promise<unknown> | undefined {
    this.#stop();
    return this.#incoming && this.#result?.ask();
  }

  /** The agent's turns so far. */
  get turns(): readonly TurnMetrics[] {
    return this.#meter.turns;
  }

  /** A machine has answered: the agent says nothing until {@link leaveMessage}. */
  awaitVoicemail(): void {
    this.#machine = "greets";
    this.#silence.stop();
    this.#interrupt(false);
  }

  /** The machine records: the agent leaves its message. */
  leaveMessage(): void {
    if (this.#machine !== "greets") return;
    this.#machine = "records";
    this.#ending = false;
    if (this.#closed) this.#media.post({ type: "message_played" });
    else this.#conversation.voicemail();
  }

  inbound(frame: Int16Array, received: Int16Array): void {
    this.#listening.inbound(frame, received);
  }

  outbound(samples: Int16Array | undefined, from: number, length: number): void {
    this.#listening.outbound(samples, from, length);
    this.#meter.played(samples, from, length);
    this.#silence.passed(length, samples === undefined && !this.#media.callee.speaking && !this.#audio.held);
  }

  async flush(): Promise<void> {
    this.#stop();
    await this.#listening.flush();
  }

  /** What is being said cannot be interrupted. */
  get #mustBeHeard(): boolean {
    return this.#ending || this.#transferring || this.#machine !== undefined || this.#speech?.mustBeHeard === true;
  }

  /** Whether an event is carried out now. After the last words, and while a machine greets, only words are kept. */
  #attends({ type }: AudioAgentEvent): boolean {
    return !(this.#ending || this.#machine === "greets") || type === "callee_words" || type === "fault";
  }

  /** Carries out what the agent does, to the end of the conversation. Never rejects. */
  async #run(): Promise<void> {
    const { signal } = this.#scope;
    try {
      for await (const event of this.#conversation.events) {
        if (signal.aborted) return;
        if (this.#attends(event)) await this.#carryOut(event, signal);
      }
      this.#closed = true;
    } catch (error) {
      if (!signal.aborted) this.#end({ type: "message_failed", reason: "agent_failed", detail: errorText(error) });
    }
  }

  async #carryOut(event: AudioAgentEvent, signal: AbortSignal): Promise<void> {
    switch (event.type) {
      case "reply":
        this.#silence.stop();
        if (this.#audio.speaks) this.#interrupt(false);
        this.#meter.requested({ type: event.to });
        break;
      case "audio":
        this.#silence.stop();
        this.#play(event.item, event.bytes);
        break;
      case "words":
        this.#audio.words(event.item, event.text);
        break;
      case "item_end":
        this.#incoming?.end(event.item);
        this.#audio.end(event.item);
        break;
      case "speech_started":
        this.#silence.stop();
        this.#listening.understood();
        if (!this.#mustBeHeard) this.#interrupt(true);
        break;
      case "speech_stopped":
        this.#meter.turnEnded();
        this.#meter.words();
        break;
      case "callee_words":
        this.#listening.addWords(event);
        break;
      case "listen":
        this.#silence.start(event.forMs);
        break;
      case "press":
        this.#pressed = this.#pressed.then(() => (signal.aborted ? undefined : this.#control.press(event.keys)));
        break;
      case "transfer":
        this.#transfer(event.to, signal);
        break;
      case "leave_voicemail":
        if (this.#machine !== undefined) break;
        this.#silence.stop();
        this.#media.post({ type: "leave_voicemail", atMs: this.#media.playout.clockMs });
        break;
      case "say":
        await this.#say(event.text, signal);
        break;
      case "fault":
        this.#context.log.warn(
          { call_id: this.#call.id, agent: this.#agent.name, detail: event.detail },
          "agent fault",
        );
        break;
      case "fail":
        this.#end({ type: "message_failed", reason: "agent_failed", detail: event.detail });
        break;
      case "hang_up":
        this.#end(this.#control.hangUpSignal(event.detail));
        break;
    }
  }

  #play(item: string, bytes: Uint8Array): void {
    if (this.#incoming === undefined || !this.#audio.takes(item)) return;
    this.#meter.audioBegins();
    this.#incoming.read(item, bytes);
  }

  /** Stops what is being said, and notifies the agent of how much was heard. */
  #interrupt(bySpeech: boolean): void {
    if (this.#audio.speaks) this.#meter.interrupted(bySpeech);
    this.#incoming?.drop();
    this.#conversation.interrupted(this.#audio.cut());
  }

  /** Transfers the call once all that was said has been heard. */
  #transfer(to: string, signal: AbortSignal): void {
    this.#silence.stop();
    this.#transferring = true;
    this.#audio.release();
    this.#media.playout.mark("", () => {
      transferCall(this.#context, this.#call, this.#media, to, signal)
        .then((failed) => {
          if (failed === undefined) return;
          this.#transferring = false;
          this.#conversation.transferFailed(failed.detail);
          if (this.#control.timeIsUp) this.#lastWords();
        })
        .catch(() => {}); // the call is over
    });
  }

  /** Speaks by the speech engine; a fault of it is only logged, because the call ends anyway. */
  async #say(text: string, signal: AbortSignal): Promise<void> {
    if (this.#speech === undefined || this.#incoming === undefined) return;
    this.#audio.release();
    await this.#speech.say(text, false, signal).catch((error: unknown) => {
      if (!signal.aborted)
        this.#context.log.warn({ call_id: this.#call.id, err: error }, "the agent could not apologise");
    });
  }

  /** Ends the call once all that was said has been heard; at once if nobody has answered. */
  #end(signal: CallSignal): void {
    this.#ending = true;
    this.#audio.release();
    if (this.#incoming === undefined) {
      this.#media.post(signal);
      return;
    }
    void this.#result?.ask();
    void this.#pressed.then(() => {
      if (!this.#scope.signal.aborted) this.#control.endAfterLastWord(signal);
    });
  }

  #happened(event: Event): void {
    if (event.type === "answered") this.#answered();
    else if (event.type === "dtmf") this.#key(event.data.digit);
    else if (isFinalEvent(event.type)) this.#stop();
  }

  #answered(): void {
    const { leg } = this.#media;
    const format = formatOf(leg);
    this.#incoming = new IncomingAudio(format, leg.sampleRate, this.#audio);
    this.#listening.begin(format, (bytes) => {
      if (this.#machine === undefined) this.#conversation.hear(bytes);
    });
    this.#conversation.answered(format);
    this.#control.answered(this.#agent.name, () => this.#lastWords());
  }

  #lastWords(): void {
    if (this.#mustBeHeard) return;
    this.#silence.stop();
    this.#interrupt(false);
    this.#conversation.ending();
  }

  #key(digit: string): void {
    this.#meter.key();
    if (this.#mustBeHeard) return;
    this.#silence.stop();
    this.#interrupt(false);
    this.#conversation.key(digit);
  }

  #stop(): void {
    if (this.#scope.signal.aborted) return;
    this.#unlisten();
    this.#control.stop();
    this.#listening.stop();
    this.#scope.abort();
    const unheard = this.#audio.cut();
    if (unheard.length > 0) this.#conversation.interrupted(unheard);
    this.#speech?.finish();
  }
}
