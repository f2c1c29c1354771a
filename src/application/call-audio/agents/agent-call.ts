import { dtmfTones } from "../../../audio/dtmf.ts";
import { msToSamples } from "../../../audio/pcm.ts";
import { errorText } from "../../../base/error-text.ts";
import { Queue } from "../../../base/queue.ts";
import { isBackchannel } from "../../../domain/backchannel.ts";
import type { CallOf, CallResult } from "../../../domain/call.ts";
import type { CallSignal } from "../../../domain/call-signal.ts";
import { type Event, type EventData, isFinalEvent } from "../../../domain/events.ts";
import type { TurnMetrics } from "../../../domain/turn-metrics.ts";
import type { OfferedTool } from "../../../ports/agent-tool.ts";
import type { Agent, Conversation, ConversationAction, ConversationInput } from "../../../ports/conversation.ts";
import { SpeechFailed, type Voice } from "../../../ports/speech.ts";
import type { Context } from "../../context.ts";
import type { CallTap } from "../call-tap.ts";
import type { LiveMedia } from "../programs/program.ts";
import type { Transcript } from "../streams/stream-client.ts";
import { CallTranscripts, type TranscriptReader } from "../transcripts/call-transcripts.ts";
import { AgentSpeech } from "./agent-speech.ts";
import { agentVoice, briefOf } from "./agent-voice.ts";
import { BargeIn } from "./barge-in.ts";
import { offeredTools } from "./offered-tools.ts";
import { TurnMeter } from "./turn-meter.ts";

/**
 * Conducts one call by an agent: what happens goes into one mailbox, the agent replies to one thing after the other, and
 * its replies are spoken. The leg's own clock measures how long the callee is silent.
 */
export class AgentCall implements CallTap, TranscriptReader {
  readonly #context: Context;
  readonly #call: CallOf<"DYNAMIC_AGENT">;
  readonly #agent: Agent;
  readonly #media: LiveMedia;
  readonly #meter: TurnMeter;
  readonly #transcripts: CallTranscripts;
  readonly #inputs = new Queue<ConversationInput>();
  readonly #scope = new AbortController();
  readonly #unlisten: () => void;
  #speech: AgentSpeech | undefined;
  #conversation: Conversation | undefined;
  /** Notices that the callee speaks into the agent's words; undefined if words are not heard. */
  readonly #bargeIn: BargeIn | undefined;
  /** Of the reply that is being read: aborted if the callee interrupts it. */
  #replying = new AbortController();
  /** What the callee has heard since the latest reply. */
  #heardText: string[] = [];
  /** The agent has decided that the call ends. */
  #ending = false;
  /** Samples of silence until the agent gets `silence`; undefined while it does not listen. */
  #listensFor: number | undefined;
  /** Samples of silence since its last word. */
  #silent = 0;

  constructor(context: Context, call: CallOf<"DYNAMIC_AGENT">, agent: Agent, media: LiveMedia) {
    this.#context = context;
    this.#call = call;
    this.#agent = agent;
    this.#media = media;
    this.#meter = new TurnMeter(media.leg.sampleRate, () => context.system.monotonic());
    this.#transcripts = new CallTranscripts(context, call, this, media.leg.sampleRate, ["callee"]);
    if (context.transcription)
      this.#bargeIn = new BargeIn(media.leg.sampleRate, {
        begins: () => {
          if (!this.#speech?.canBeInterrupted || this.#ending) return;
          this.#speech.hold();
          this.#meter.held();
        },
        falseAlarm: () => this.#speech?.release(),
      });
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

  /** The agent's turns so far. */
  get turns(): readonly TurnMetrics[] {
    return this.#meter.turns;
  }

  inbound(frame: Int16Array): void {
    this.#transcripts.inbound(frame);
    const { speaking, hangOverMs } = this.#media.callee;
    this.#meter.callee(speaking, hangOverMs);
    this.#bargeIn?.push(speaking, frame.length);
  }

  outbound(samples: Int16Array | undefined, from: number, length: number): void {
    this.#transcripts.outbound(samples, from, length);
    this.#meter.played(samples, from, length);
    if (this.#listensFor === undefined) return;
    const calleeSpeaks = this.#bargeIn !== undefined && this.#media.callee.speaking;
    const silent = samples === undefined && !calleeSpeaks && this.#speech?.held !== true;
    this.#silent = silent ? this.#silent + length : 0;
    if (this.#silent < this.#listensFor) return;
    this.#listensFor = undefined;
    this.#inputs.push({ type: "silence" });
  }

  async flush(): Promise<void> {
    this.#stop();
    await this.#transcripts.flush();
  }

  transcript({ text, final }: Transcript): void {
    if (!final) return;
    this.#meter.words();
    this.#bargeIn?.understood();
    if (this.#speech?.held && isBackchannel(text)) this.#speech.release();
    else this.#heard({ type: "words", text });
  }

  turnEnded(): void {
    this.#meter.turnEnded();
  }

  emit(): void {} // keys work without transcripts

  /** Conducts the conversation to its end. Never rejects. */
  async #run(): Promise<void> {
    const { signal } = this.#scope;
    try {
      const voice = await agentVoice(this.#context, this.#call);
      if (voice === undefined) throw new SpeechFailed("no voice can speak on this server");
      const speech = this.#speechWith(voice);
      const conversation = this.#agent.begin(briefOf(this.#context, this.#call, voice, this.#tools()));
      this.#conversation = conversation;
      this.#inputs.push({ type: "begin" });
      for await (const input of this.#inputs) {
        if (signal.aborted) return;
        if (await this.#reply(conversation, speech, input, signal)) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      const reason = error instanceof SpeechFailed ? "speech_failed" : "agent_failed";
      this.#media.post({ type: "message_failed", reason, detail: errorText(error) });
    }
  }

  #tools(): OfferedTool[] {
    const used = (data: EventData["tool_used"]) =>
      this.#media.post({ type: "noticed", fact: { event: "tool_used", data } });
    return offeredTools(this.#context, this.#call.id, this.#context.agentTools, this.#scope.signal, used);
  }

  #speechWith(voice: Voice): AgentSpeech {
    const { playout } = this.#media;
    this.#speech = new AgentSpeech(this.#context, this.#call, voice.id, playout, {
      rendered: () => this.#meter.rendered(),
      spoken: (line) => {
        this.#heardText.push(line.text);
        this.#transcripts.add("caller", line);
      },
    });
    return this.#speech;
  }

  /** Carries out the reply to one input; returns whether it ends the call. */
  async #reply(
    conversation: Conversation,
    speech: AgentSpeech,
    input: ConversationInput,
    signal: AbortSignal,
  ): Promise<boolean> {
    this.#listensFor = undefined;
    speech.beginReply();
    this.#meter.requested(input.type);
    this.#replying = new AbortController();
    const interrupted = this.#replying.signal;
    if (input.type !== "begin") conversation.heard?.(this.#heardText.splice(0).join(" "));
    try {
      // Also an interrupted reply is read to its end, because the agent may not notice.
      for await (const action of conversation.reply(input, AbortSignal.any([signal, interrupted])))
        if (await this.#carryOut(action, speech, signal)) return true;
    } catch (error) {
      if (!interrupted.aborted) throw error;
    } finally {
      this.#meter.replied(conversation.firstTokenMs);
    }
    return false;
  }

  async #carryOut(action: ConversationAction, speech: AgentSpeech, signal: AbortSignal): Promise<boolean> {
    switch (action.type) {
      case "say":
        this.#meter.says();
        await speech.say(action.text, action.interruptible, signal);
        return false;
      case "listen":
        this.#silent = 0;
        this.#listensFor = msToSamples(action.forMs, this.#media.leg.sampleRate);
        return false;
      case "resume":
        await speech.resume(signal);
        return false;
      case "press":
        await this.#press(action.keys);
        return false;
      case "fail":
        this.#endAfterLastWord(speech, { type: "message_failed", reason: "agent_failed", detail: action.detail });
        return true;
      case "hang_up":
        // The callee has interrupted, and is heard out.
        if (this.#replying.signal.aborted) return false;
        this.#endAfterLastWord(speech, { type: "message_played" });
        return true;
    }
  }

  #endAfterLastWord(speech: AgentSpeech, signal: CallSignal): void {
    this.#ending = true;
    speech.release();
    speech.whenPlayed(() => this.#media.post(signal));
  }

  /** Sends keys; a network that cannot gets them as tones behind the agent's words. */
  async #press(keys: string): Promise<void> {
    const { leg, playout } = this.#media;
    if (leg.sendDtmf === undefined) playout.enqueue(dtmfTones(keys, { sampleRate: leg.sampleRate }));
    else
      await leg.sendDtmf(keys).catch((error: unknown) => {
        this.#context.log.warn({ call_id: this.#call.id, err: error }, "the network did not send the keys");
      });
  }

  #happened(event: Event): void {
    if (event.type === "answered")
      this.#media.post({ type: "noticed", fact: { event: "agent_started", data: { agent: this.#agent.name } } });
    else if (event.type === "dtmf") {
      this.#meter.key();
      this.#heard({ type: "key", digit: event.data.digit });
    } else if (isFinalEvent(event.type)) this.#stop();
  }

  #heard(input: ConversationInput): void {
    if (this.#speech === undefined || this.#speech.mustBeHeard || this.#ending) return;
    if (this.#speech.speaks) this.#meter.interrupted(input.type === "words");
    this.#speech.interrupt();
    this.#replying.abort();
    this.#inputs.push(input);
  }

  #stop(): void {
    this.#unlisten();
    this.#inputs.close();
    this.#scope.abort();
    this.#speech?.finish();
  }
}
