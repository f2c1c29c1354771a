import { errorText } from "../../../base/error.ts";
import { apologyIn } from "../../../domain/agents/apologies.ts";
import { type CallOf, type CallResult, machinePolicyOf } from "../../../domain/calls/call.ts";
import { type EventData, textSkipped } from "../../../domain/events.ts";
import type { OfferedTool } from "../../../ports/agent-tool.ts";
import type { Agent, Conversation, ConversationInput } from "../../../ports/conversation.ts";
import { SpeechFailed, type Voice } from "../../../ports/speech.ts";
import type { Context } from "../../context.ts";
import type { CallTap } from "../call-tap.ts";
import type { LiveCallMedia } from "../call-types/call-type-program.ts";
import { AgentActions } from "./agent-actions.ts";
import { AgentInputs } from "./agent-inputs.ts";
import { AgentSpeech, type AgentSpeechContext } from "./agent-speech.ts";
import { type AgentVoiceContext, agentVoice, briefOf } from "./agent-voice.ts";
import { CalleeTurns, type ListeningContext } from "./callee-turns.ts";
import { ConductedCall, type ConductedCallContext } from "./conducted-call.ts";
import { offeredTools } from "./offered-tools.ts";
import { AgentSilent, PromptReplies } from "./prompt-replies.ts";

type AgentCallContext = Pick<Context, "agentTools"> &
  AgentSpeechContext &
  AgentVoiceContext &
  ConductedCallContext &
  ListeningContext;

/**
 * Conducts one call with an agent: events go into one mailbox, the agent replies to one at a time, and its replies are
 * spoken. The leg's clock measures the callee's silence.
 */
export class AgentCall implements CallTap {
  readonly core: ConductedCall;
  readonly #context: AgentCallContext;
  readonly #agent: Agent;
  readonly #calleeTurns: CalleeTurns;
  readonly #actions: AgentActions;
  readonly #inputs = new AgentInputs();
  #speech: AgentSpeech | undefined;
  #conversation: Conversation | undefined;
  /** Controls the reply that is being read: aborted if the callee interrupts it; undefined between two replies. */
  #interruption: AbortController | undefined;
  /** The words that the callee has heard since the latest reply. */
  #heardText: string[] = [];
  /** Spoken if the agent fails before saying anything. */
  #apology = "";

  constructor(context: AgentCallContext, call: CallOf<"DYNAMIC_AGENT">, agent: Agent, media: LiveCallMedia) {
    this.#context = context;
    this.#agent = agent;
    const core = new ConductedCall(context, call, media, {
      name: agent.name,
      hold: () => this.#speech?.hold(),
      release: () => this.#speech?.release(),
      cut: () => {
        this.#speech?.cut();
        this.#interruption?.abort();
      },
      finish: () => this.#finish(),
      onKey: (digit) => this.#onHeard({ type: "key", digit }),
      onSilence: () => this.#inputs.push({ type: "silence" }),
      sayLastWords: () => this.#sayLastWords(),
      onTransferFailure: (input) => this.#inputs.push(input),
    });
    this.core = core;
    this.#calleeTurns = new CalleeTurns(context, call, media, core.meter, {
      onSound: () => {
        if (this.#speech?.hasStarted === false && this.#hasTurn && !this.#speech.mustBeHeard) core.apply("hold");
      },
      onBargeIn: () => {
        if (this.#speech?.hasStarted && !this.#speech.mustBeHeard && core.apply("hold")) core.meter.recordHold();
      },
      onFalseStart: () => core.apply("release"),
      hasTurn: () => this.#hasTurn,
      onWords: (text, continued) => this.#onHeard({ type: "words", text, ...(continued && { continued }) }),
      onProbableWords: (text, continued) => this.#prepare({ type: "words", text, ...(continued && { continued }) }),
      onLostWords: (detail) => {
        if (core.isHeld || !this.#hasTurn) this.#onHeard({ type: "unheard", detail });
      },
      onTranscriptionFailure: (detail) => this.#inputs.push({ type: "fault", of: "transcription", detail }),
    });
    this.#actions = new AgentActions(core, this.#calleeTurns);
    void this.#run();
  }

  /** The agent's findings so far; undefined if there are none. */
  get result(): CallResult | undefined {
    return this.#conversation?.result;
  }

  inbound(frame: Int16Array, received: Int16Array): void {
    this.#calleeTurns.inbound(frame, received);
  }

  outbound(samples: Int16Array | undefined, from: number, length: number): void {
    const { meter, silence, isHeld } = this.core;
    this.#calleeTurns.outbound(samples, from, length);
    meter.addPlayedAudio(samples, from, length);
    if (silence.isRunning) silence.advance(length, samples === undefined && !this.#calleeTurns.isBusy && !isHeld);
  }

  /** Leaves the agent's message, once the machine records. */
  leaveMessage(): void {
    if (this.core.apply("record")) this.#inputs.push({ type: "voicemail" });
  }

  async flush(): Promise<void> {
    this.core.stop();
    await this.#calleeTurns.flush();
  }

  /** True while a reply is being read or spoken. */
  get #hasTurn(): boolean {
    return this.#interruption !== undefined || this.#speech?.isSpeaking === true;
  }

  /** Conducts the conversation to its end. Never rejects. */
  async #run(): Promise<void> {
    const context = this.#context;
    const { call, media, signal } = this.core;
    try {
      const voice = await agentVoice(context, call);
      if (voice === undefined) throw new SpeechFailed("no voice can speak on this server");
      const speech = this.#createSpeech(voice);
      const brief = briefOf(context, call, voice, media.network, this.#tools());
      this.#calleeTurns.language = brief.language;
      this.#apology = apologyIn(brief.language);
      const replies = new PromptReplies(context.system, this.#agent, brief);
      this.#conversation = replies.conversation;
      this.core.setReporter(replies.conversation);
      this.#inputs.push({ type: "begin" });
      for await (const input of this.#inputs) {
        if (signal.aborted) return;
        if (input.type !== "voicemail" && this.core.isDecided) continue;
        const isCallEnded =
          input.type === "voicemail"
            ? await this.#actions.leaveVoicemail(speech, () => this.#reply(replies, speech, input))
            : await this.#reply(replies, speech, input);
        // A machine may be recognised after the last word of a short conversation.
        if (isCallEnded && machinePolicyOf(call.message) !== "leave_message") return;
      }
    } catch (error) {
      if (!signal.aborted) media.post({ type: "message_failed", reason: "agent_failed", detail: errorText(error) });
    }
  }

  #tools(): OfferedTool[] {
    const { call, media, signal } = this.core;
    const reportUse = (data: EventData["tool_used"]) => {
      this.#calleeTurns.closeTurn(); // effects of a tool cannot be undone
      media.post({ type: "noticed", fact: { event: "tool_used", data } });
    };
    return offeredTools(this.#context, call, signal, reportUse);
  }

  #createSpeech(voice: Voice): AgentSpeech {
    const { call, media, meter } = this.core;
    this.#speech = new AgentSpeech(this.#context, call, voice.id, media.playout, this.core, {
      onRendered: () => meter.recordFirstSamples(),
      onStart: () => this.#calleeTurns.closeTurn(),
      onSpoken: (line) => {
        this.#heardText.push(line.text);
        this.#calleeTurns.add("caller", line);
      },
      onSkipped: (passage) => media.post({ type: "noticed", fact: textSkipped(passage) }),
    });
    return this.#speech;
  }

  /** Carries out the reply to one input; returns true if it ends the call. */
  async #reply(replies: PromptReplies, speech: AgentSpeech, input: ConversationInput): Promise<boolean> {
    const { meter, signal, silence } = this.core;
    const silenceLimit = silence.stop();
    meter.recordRequest(input);
    const interruption = new AbortController();
    this.#interruption = interruption;
    if (input.type !== "begin") this.#deliverHeard(replies.conversation);
    let hasActed = false;
    try {
      // Even an interrupted reply is read to its end, because the agent may not notice the interruption.
      for await (const action of replies.reply(input, signal, interruption.signal)) {
        hasActed = true;
        if (await this.#actions.carryOut(action, speech, interruption.signal)) return true;
      }
      if (!hasActed) silence.resume(silenceLimit);
    } catch (error) {
      if (error instanceof AgentSilent) {
        await this.#actions.apologise(this.#apology, error.message, speech);
        return true;
      }
      if (interruption.signal.aborted) return false;
      // The next text, an apology, may still be spoken.
      if (!(error instanceof SpeechFailed) || (input.type === "fault" && input.of === "speech")) throw error;
      this.#inputs.push({ type: "fault", of: "speech", detail: error.message });
    } finally {
      this.#interruption = undefined;
      meter.recordFirstToken(replies.conversation.firstTokenMs);
      if (!interruption.signal.aborted && !speech.isSpeaking) this.#calleeTurns.closeTurn();
    }
    return false;
  }

  #sayLastWords(): void {
    if (this.core.isMachine) return;
    if (this.#speech?.mustBeHeard) this.#inputs.push({ type: "ending" });
    else this.#onHeard({ type: "ending" });
  }

  #onHeard(input: ConversationInput): void {
    const speech = this.#speech;
    if (speech === undefined || speech.mustBeHeard || this.core.isDecided) return;
    if (input.type !== "words") this.#calleeTurns.closeTurn();
    if (speech.hasStarted) this.core.meter.recordInterruption(input.type === "words");
    this.core.apply("interrupt");
    this.#inputs.push(input);
  }

  /** Asks the agent to prepare its reply, if it has no other work. */
  #prepare(input: Extract<ConversationInput, { type: "words" }>): void {
    const conversation = this.#conversation;
    if (conversation?.prepare === undefined || this.#hasTurn || !this.#inputs.isEmpty || this.core.isDecided) return;
    this.#deliverHeard(conversation);
    conversation.prepare(input, this.core.signal);
  }

  #deliverHeard(conversation: Conversation): void {
    conversation.heard?.(this.#heardText.splice(0).join(" "));
  }

  #finish(): void {
    this.#inputs.close();
    this.#speech?.finish();
    if (this.core.call.message.resultSchema && this.#conversation) this.#deliverHeard(this.#conversation);
  }
}
