import { errorText } from "../../../base/error.ts";
import type { CallOf, CallResult } from "../../../domain/calls/call.ts";
import type { CallSignal } from "../../../domain/calls/call-signal.ts";
import { textSkipped } from "../../../domain/events.ts";
import type { AudioAgent, AudioAgentEvent, AudioConversation } from "../../../ports/audio-conversation.ts";
import type { CallTap } from "../call-tap.ts";
import type { LiveCallMedia } from "../call-types/call-type-program.ts";
import { AgentAudio } from "./agent-audio.ts";
import { AgentSpeech, type AgentSpeechContext } from "./agent-speech.ts";
import { AudioListening, type AudioListeningContext } from "./audio-listening.ts";
import { ConductedCall, type ConductedCallContext } from "./conducted-call.ts";
import { formatOf } from "./leg-audio-format.ts";
import { ReplyAudio } from "./reply-audio.ts";
import type { SpokenLine } from "./spoken-queue.ts";

type AudioAgentCallContext = AgentSpeechContext & AudioListeningContext & ConductedCallContext;

/** An audio agent and its conversation for a call, opened before the call is dialled. */
export interface OpenConversation {
  readonly agent: AudioAgent;
  readonly conversation: AudioConversation;
  /** Id of the voice that speaks an apology; undefined if no voice is available. */
  readonly voiceId: string | undefined;
}

/**
 * Conducts one call with an audio agent: paces the agent's speech, stops it if the callee interrupts, and reports to
 * the agent how much was heard. The leg's own clock measures how long both sides are silent.
 */
export class AudioAgentCall implements CallTap {
  readonly core: ConductedCall;
  readonly #agent: string;
  readonly #conversation: AudioConversation;
  readonly #listening: AudioListening;
  readonly #audio: ReplyAudio;
  /** Speaks what the agent cannot say itself; undefined without a voice. */
  readonly #speech: AgentSpeech | undefined;
  /** The audio that the agent sends; undefined until the callee answers. */
  #agentAudio: AgentAudio | undefined;
  /** True once the conversation has ended. */
  #hasEnded = false;
  /** Resolves when all keys so far have been sent. */
  #keysSent: Promise<void> = Promise.resolve();

  constructor(
    context: AudioAgentCallContext,
    call: CallOf<"DYNAMIC_AGENT">,
    open: OpenConversation,
    media: LiveCallMedia,
  ) {
    const { agent, conversation, voiceId } = open;
    this.#agent = agent.name;
    this.#conversation = conversation;
    const core = new ConductedCall(context, call, media, {
      name: agent.name,
      hold: () => this.#audio.hold(),
      release: () => this.#audio.release(),
      cut: () => {
        if (this.#audio.isSpeaking) core.meter.recordInterruption(false);
        this.#agentAudio?.drop();
        conversation.interrupted(this.#audio.cut());
      },
      finish: () => this.#finish(),
      onAnswer: () => this.#onAnswer(),
      onKey: (digit) => {
        if (this.#interrupt(false)) conversation.key(digit);
      },
      onSilence: () => conversation.silence(),
      sayLastWords: () => {
        if (this.#interrupt(false)) conversation.ending();
      },
      onTransferFailure: ({ detail }) => conversation.transferFailed(detail),
    });
    core.setReporter(conversation);
    this.core = core;
    this.#listening = new AudioListening(context, call, agent.transcribes, media, core.meter, {
      onBargeIn: () => {
        if (this.#audio.hasStarted && !this.#speech?.mustBeHeard && core.apply("hold")) core.meter.recordHold();
      },
      onFalseStart: () => core.apply("release"),
    });
    const addSpoken = (line: SpokenLine): void => this.#listening.add(line);
    this.#audio = new ReplyAudio(media.playout, core, addSpoken);
    if (voiceId !== undefined)
      this.#speech = new AgentSpeech(context, call, voiceId, media.playout, core, {
        onRendered: () => {},
        onStart: () => {},
        onSpoken: addSpoken,
        onSkipped: (passage) => media.post({ type: "noticed", fact: textSkipped(passage) }),
      });
    void this.#run();
  }

  /** The agent's findings so far; undefined if there are none. */
  get result(): CallResult | undefined {
    return this.#conversation.result;
  }

  /**
   * Called when the call has ended; resolves when the agent has stated its result. Undefined if it is not asked for
   * one.
   */
  awaitResult(): Promise<unknown> | undefined {
    this.core.stop();
    return this.#agentAudio && this.core.askResult();
  }

  /** Leaves the agent's message, once the machine records. */
  leaveMessage(): void {
    if (!this.core.apply("record")) return;
    if (this.#hasEnded) this.core.media.post({ type: "message_played" });
    else this.#conversation.voicemail();
  }

  inbound(frame: Int16Array, received: Int16Array): void {
    this.#listening.inbound(frame, received);
  }

  outbound(samples: Int16Array | undefined, from: number, length: number): void {
    const { media, meter, silence, isHeld } = this.core;
    this.#listening.outbound(samples, from, length);
    meter.addPlayedAudio(samples, from, length);
    silence.advance(length, samples === undefined && !media.callee.isSpeech && !isHeld);
  }

  async flush(): Promise<void> {
    this.core.stop();
    await this.#listening.flush();
  }

  /**
   * True if the event is handled now. After the last words, and while a machine plays its greeting, only words are
   * kept.
   */
  #isHandledNow({ type }: AudioAgentEvent): boolean {
    switch (this.core.turn) {
      case "ending":
      case "machine_greets":
      case "message_left":
        return type === "callee_words" || type === "fault";
      default:
        return true;
    }
  }

  /** Carries out the agent's actions until the conversation ends. Never rejects. */
  async #run(): Promise<void> {
    const { signal } = this.core;
    try {
      for await (const event of this.#conversation.events) {
        if (signal.aborted) return;
        if (this.#isHandledNow(event)) await this.#carryOut(event);
      }
      this.#hasEnded = true;
    } catch (error) {
      if (!signal.aborted) this.#end({ type: "message_failed", reason: "agent_failed", detail: errorText(error) });
    }
  }

  async #carryOut(event: AudioAgentEvent): Promise<void> {
    const { context, call, media, meter, signal, silence } = this.core;
    switch (event.type) {
      case "reply":
        silence.stop();
        if (this.#audio.isSpeaking) this.core.apply("replace");
        meter.recordRequest({ type: event.to });
        break;
      case "audio":
        silence.stop();
        this.#play(event.item, event.bytes);
        break;
      case "words":
        this.#audio.setWords(event.item, event.text);
        break;
      case "item_end":
        this.#agentAudio?.end(event.item);
        this.#audio.end(event.item);
        break;
      case "speech_started":
        silence.stop();
        this.#listening.confirmSpeech();
        this.#interrupt(true);
        break;
      case "speech_stopped":
        meter.recordTurnEnd();
        meter.recordWords();
        break;
      case "callee_words":
        this.#listening.addWords(event);
        break;
      case "listen":
        silence.start(event.forMs);
        break;
      case "press":
        this.#keysSent = this.#keysSent.then(() => (signal.aborted ? undefined : this.core.press(event.keys)));
        break;
      case "transfer":
        this.#transfer(event.to);
        break;
      case "leave_voicemail":
        if (this.core.isMachine) break;
        silence.stop();
        media.post({ type: "leave_voicemail", atMs: media.playout.clockMs });
        break;
      case "say":
        await this.#say(event.text);
        break;
      case "fault":
        context.log.warn({ call_id: call.id, agent: this.#agent, detail: event.detail }, "agent fault");
        break;
      case "fail":
        this.#end({ type: "message_failed", reason: "agent_failed", detail: event.detail });
        break;
      case "hang_up":
        this.#end(this.core.hangUpSignal(event.detail));
        break;
    }
  }

  #play(item: string, bytes: Uint8Array): void {
    if (this.#agentAudio === undefined || !this.#audio.accepts(item)) return;
    this.core.meter.recordFirstAudio();
    this.#agentAudio.push(item, bytes);
  }

  /** Handles an interruption: stops the speech unless it must be heard; returns true if the agent reacts. */
  #interrupt(bySpeech: boolean): boolean {
    if (this.core.isDecided || this.#speech?.mustBeHeard) return false;
    this.core.silence.stop();
    if (bySpeech && this.#audio.isSpeaking) this.core.meter.recordInterruption(true);
    return this.core.apply("interrupt");
  }

  /** Transfers the call once everything said has been heard. */
  #transfer(to: string): void {
    this.core.silence.stop();
    this.core.apply("transfer");
    this.core.media.playout.mark("", () => {
      this.core.transfer(to).catch(() => {}); // the call has ended
    });
  }

  /** Speaks with the speech engine, whose faults are only logged, because the call ends anyway. */
  async #say(text: string): Promise<void> {
    const { context, call, signal } = this.core;
    if (this.#speech === undefined || this.#agentAudio === undefined) return;
    this.core.apply("release");
    await this.#speech.say(text, false, signal).catch((error: unknown) => {
      if (!signal.aborted) context.log.warn({ call_id: call.id, err: error }, "the agent could not apologise");
    });
  }

  /** Ends the call once everything said has been heard; at once if the call was not answered. */
  #end(signal: CallSignal): void {
    this.core.apply("end");
    if (this.#agentAudio === undefined) {
      this.core.media.post(signal);
      return;
    }
    void this.core.askResult();
    void this.#keysSent.then(() => {
      if (!this.core.signal.aborted) this.core.endAfterLastWord(signal);
    });
  }

  #onAnswer(): void {
    const { leg } = this.core.media;
    const format = formatOf(leg);
    this.#agentAudio = new AgentAudio(format, leg.sampleRate, this.#audio);
    this.#listening.begin(format, (bytes) => {
      if (!this.core.isMachine) this.#conversation.hear(bytes);
    });
    this.#conversation.answered(format);
  }

  #finish(): void {
    this.#listening.stop();
    const unheardItems = this.#audio.cut();
    if (unheardItems.length > 0) this.#conversation.interrupted(unheardItems);
    this.#speech?.hold();
    this.#speech?.finish();
  }
}
