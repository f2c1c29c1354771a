import { errorText } from "../../../base/error-text.ts";
import { apologyIn } from "../../../domain/apologies.ts";
import { type CallOf, type CallResult, machinePolicyOf } from "../../../domain/call.ts";
import { type Event, type EventData, isFinalEvent, textSkipped } from "../../../domain/events.ts";
import type { TurnMetrics } from "../../../domain/turn-metrics.ts";
import type { OfferedTool } from "../../../ports/agent-tool.ts";
import type { Agent, Conversation, ConversationInput } from "../../../ports/conversation.ts";
import { SpeechFailed, type Voice } from "../../../ports/speech.ts";
import type { Context } from "../../context.ts";
import type { CallTap } from "../call-tap.ts";
import type { LiveMedia } from "../programs/program.ts";
import { AgentActions } from "./agent-actions.ts";
import { AgentInputs } from "./agent-inputs.ts";
import { AgentResult, type FindingsAtEnd } from "./agent-result.ts";
import { AgentSpeech } from "./agent-speech.ts";
import { agentVoice, briefOf } from "./agent-voice.ts";
import { CallControl } from "./call-control.ts";
import { Listening } from "./listening.ts";
import { offeredTools } from "./offered-tools.ts";
import { AgentSilent, PromptReplies } from "./prompt-replies.ts";
import { SilenceTimer } from "./silence-timer.ts";
import { TurnMeter } from "./turn-meter.ts";

/**
 * Conducts one call by an agent: what happens goes into one mailbox, the agent replies to one thing after the other, and
 * its replies are spoken. The leg's own clock measures how long the callee is silent.
 */
export class AgentCall implements CallTap {
  readonly #context: Context;
  readonly #call: CallOf<"DYNAMIC_AGENT">;
  readonly #agent: Agent;
  readonly #media: LiveMedia;
  readonly #meter: TurnMeter;
  readonly #control: CallControl;
  readonly #silence: SilenceTimer;
  readonly #listening: Listening;
  readonly #actions: AgentActions;
  readonly #inputs = new AgentInputs();
  readonly #scope = new AbortController();
  readonly #unlisten: () => void;
  #speech: AgentSpeech | undefined;
  #conversation: Conversation | undefined;
  /** Of the reply that is being read: aborted if the callee interrupts it; undefined between two replies. */
  #replying: AbortController | undefined;
  /** What the callee has heard since the latest reply. */
  #heardText: string[] = [];
  /** Said if the agent fails without a word. */
  #apology = "";
  /** Asked at the end; undefined if the call has no schema for it. */
  #result: AgentResult | undefined;

  constructor(context: Context, call: CallOf<"DYNAMIC_AGENT">, agent: Agent, media: LiveMedia) {
    this.#context = context;
    this.#call = call;
    this.#agent = agent;
    this.#media = media;
    const meter = new TurnMeter(media.leg.sampleRate, () => context.system.monotonic());
    const control = new CallControl(context, call, media);
    const silence = new SilenceTimer(media.leg.sampleRate, () => this.#inputs.push({ type: "silence" }));
    const listening = new Listening(context, call, media, meter, {
      sounds: () => {
        if (this.#actions.decided || this.#speech?.begun !== false) return;
        if (this.#hasTurn && !this.#speech.mustBeHeard) this.#speech.hold();
      },
      interrupts: () => {
        if (!this.#speech?.canBeInterrupted || this.#actions.decided) return;
        this.#speech.hold();
        meter.held();
      },
      nothingSaid: () => this.#speech?.release(),
      hasTurn: () => this.#hasTurn,
      words: (text, continued) => this.#heard({ type: "words", text, ...(continued && { continued }) }),
      probableWords: (text, continued) => this.#prepare({ type: "words", text, ...(continued && { continued }) }),
      unheard: (detail) => {
        if (this.#speech?.held || !this.#hasTurn) this.#heard({ type: "unheard", detail });
      },
      deaf: (detail) => this.#inputs.push({ type: "fault", of: "transcription", detail }),
    });
    this.#actions = new AgentActions(
      { context, call, media, meter, control, silence, listening },
      {
        ends: () => void this.#result?.ask(),
        transferFailed: (failed) => {
          this.#inputs.push(failed);
          if (control.timeIsUp) this.#lastWords();
        },
      },
    );
    this.#meter = meter;
    this.#control = control;
    this.#silence = silence;
    this.#listening = listening;
    this.#unlisten = context.events.listenLive(call.id, {
      event: (event) => this.#happened(event),
      over: () => this.#stop(),
    });
    void this.#run();
  }

  /** What the agent has found out so far; undefined if nothing. */
  get result(): CallResult | undefined {
    return this.#conversation?.result;
  }

  /** What the agent has found out by the schema of the call, now that it is over; undefined if it was not asked. */
  get findings(): FindingsAtEnd | undefined {
    return this.#result?.atEnd();
  }

  /** The agent's turns so far. */
  get turns(): readonly TurnMetrics[] {
    return this.#meter.turns;
  }

  inbound(frame: Int16Array, received: Int16Array): void {
    this.#listening.inbound(frame, received);
  }

  outbound(samples: Int16Array | undefined, from: number, length: number): void {
    this.#listening.outbound(samples, from, length);
    this.#meter.played(samples, from, length);
    if (!this.#silence.runs) return;
    this.#silence.passed(length, samples === undefined && !this.#listening.busy && this.#speech?.held !== true);
  }

  /** A machine has answered: the agent says nothing until {@link leaveMessage}. */
  awaitVoicemail(): void {
    this.#actions.machineGreets();
    this.#silence.stop();
    this.#speech?.interrupt();
    this.#replying?.abort();
  }

  /** The machine records: the agent leaves its message. */
  leaveMessage(): void {
    if (this.#actions.machineRecords()) this.#inputs.push({ type: "voicemail" });
  }

  async flush(): Promise<void> {
    this.#stop();
    await this.#listening.flush();
  }

  /** Whether a reply is on its way, or being spoken. */
  get #hasTurn(): boolean {
    return this.#replying !== undefined || this.#speech?.speaks === true;
  }

  /** Conducts the conversation to its end. Never rejects. */
  async #run(): Promise<void> {
    const { signal } = this.#scope;
    try {
      const voice = await agentVoice(this.#context, this.#call);
      if (voice === undefined) throw new SpeechFailed("no voice can speak on this server");
      const speech = this.#speechWith(voice);
      const brief = briefOf(this.#context, this.#call, voice, this.#media.network, this.#tools());
      this.#listening.language = brief.language;
      this.#apology = apologyIn(brief.language);
      const replies = new PromptReplies(this.#context.system, this.#agent, brief);
      const { conversation } = replies;
      this.#conversation = conversation;
      const { resultSchema } = this.#call.message;
      if (resultSchema) this.#result = new AgentResult(this.#context, conversation, resultSchema);
      this.#inputs.push({ type: "begin" });
      for await (const input of this.#inputs) {
        if (signal.aborted) return;
        if (input.type !== "voicemail" && this.#actions.decided) continue;
        const over =
          input.type === "voicemail"
            ? await this.#actions.leaveVoicemail(speech, signal, () => this.#reply(replies, speech, input, signal))
            : await this.#reply(replies, speech, input, signal);
        // A machine may be recognised after the last word of a short conversation.
        if (over && machinePolicyOf(this.#call.message) !== "leave_message") return;
      }
    } catch (error) {
      if (!signal.aborted)
        this.#media.post({ type: "message_failed", reason: "agent_failed", detail: errorText(error) });
    }
  }

  #tools(): OfferedTool[] {
    const used = (data: EventData["tool_used"]) => {
      this.#listening.answered(); // what a tool has done cannot be taken back
      this.#media.post({ type: "noticed", fact: { event: "tool_used", data } });
    };
    return offeredTools(this.#context, this.#call, this.#scope.signal, used);
  }

  #speechWith(voice: Voice): AgentSpeech {
    const { playout } = this.#media;
    this.#speech = new AgentSpeech(this.#context, this.#call, voice.id, playout, {
      rendered: () => this.#meter.rendered(),
      begun: () => this.#listening.answered(),
      spoken: (line) => {
        this.#heardText.push(line.text);
        this.#listening.add("caller", line);
      },
      skipped: (passage) => this.#media.post({ type: "noticed", fact: textSkipped(passage) }),
    });
    return this.#speech;
  }

  /** Carries out the reply to one input; returns whether it ends the call. */
  async #reply(
    replies: PromptReplies,
    speech: AgentSpeech,
    input: ConversationInput,
    signal: AbortSignal,
  ): Promise<boolean> {
    const listensFor = this.#silence.stop();
    speech.beginReply();
    this.#meter.requested(input);
    const reading = new AbortController();
    this.#replying = reading;
    if (input.type !== "begin") this.#deliverHeard(replies.conversation);
    let acted = false;
    try {
      // Also an interrupted reply is read to its end, because the agent may not notice.
      for await (const action of replies.reply(input, signal, reading.signal)) {
        acted = true;
        if (await this.#actions.carryOut(action, speech, reading.signal, signal)) return true;
      }
      if (!acted) this.#silence.resume(listensFor);
    } catch (error) {
      if (error instanceof AgentSilent) {
        await this.#actions.apologise(this.#apology, error.message, speech, signal);
        return true;
      }
      if (reading.signal.aborted) return false;
      // The next text may be spoken: an apology.
      if (!(error instanceof SpeechFailed) || (input.type === "fault" && input.of === "speech")) throw error;
      this.#inputs.push({ type: "fault", of: "speech", detail: error.message });
    } finally {
      this.#replying = undefined;
      this.#meter.replied(replies.conversation.firstTokenMs);
      if (!reading.signal.aborted && !speech.speaks) this.#listening.answered();
    }
    return false;
  }

  #happened(event: Event): void {
    if (event.type === "answered") this.#control.answered(this.#agent.name, () => this.#lastWords());
    else if (event.type === "dtmf") {
      this.#meter.key();
      this.#heard({ type: "key", digit: event.data.digit });
    } else if (isFinalEvent(event.type)) this.#stop();
  }

  #lastWords(): void {
    if (this.#actions.toMachine) return;
    if (this.#speech?.mustBeHeard) this.#inputs.push({ type: "ending" });
    else this.#heard({ type: "ending" });
  }

  #heard(input: ConversationInput): void {
    const speech = this.#speech;
    if (speech === undefined || speech.mustBeHeard || this.#actions.decided) return;
    if (input.type !== "words") this.#listening.answered();
    if (speech.begun) this.#meter.interrupted(input.type === "words");
    speech.interrupt();
    this.#replying?.abort();
    this.#inputs.push(input);
  }

  /** Lets the agent prepare its reply, if it has nothing else to do. */
  #prepare(input: Extract<ConversationInput, { type: "words" }>): void {
    const conversation = this.#conversation;
    if (conversation?.prepare === undefined || this.#hasTurn || !this.#inputs.empty || this.#actions.ending) return;
    this.#deliverHeard(conversation);
    conversation.prepare(input, this.#scope.signal);
  }

  #deliverHeard(conversation: Conversation): void {
    conversation.heard?.(this.#heardText.splice(0).join(" "));
  }

  #stop(): void {
    this.#unlisten();
    this.#control.stop();
    this.#inputs.close();
    this.#scope.abort();
    this.#speech?.finish();
    if (this.#result && this.#conversation) this.#deliverHeard(this.#conversation);
  }
}
