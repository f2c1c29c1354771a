import type { CallSignal } from "../../../domain/calls/call-signal.ts";
import type { ConversationAction } from "../../../ports/conversation.ts";
import type { AgentSpeech } from "./agent-speech.ts";
import type { CalleeTurns } from "./callee-turns.ts";
import type { ConductedCall } from "./conducted-call.ts";

/** The actions of an agent on its call: speech, pauses, keys, transfers, voicemail messages, and hanging up. */
export class AgentActions {
  readonly #core: ConductedCall;
  readonly #calleeTurns: CalleeTurns;
  /** The agent's fixed voicemail message; undefined if the agent is asked for a message. */
  #voicemail: string | undefined;

  constructor(core: ConductedCall, calleeTurns: CalleeTurns) {
    this.#core = core;
    this.#calleeTurns = calleeTurns;
  }

  /**
   * Carries out one action of a reply; returns true if it ends the call.
   * @param interruption aborted when the callee interrupts the reply
   * @throws {SpeechFailed} or the reason of the call's signal
   */
  async carryOut(action: ConversationAction, speech: AgentSpeech, interruption: AbortSignal): Promise<boolean> {
    const core = this.#core;
    if (core.turn === "machine_greets") return false;
    switch (action.type) {
      case "say":
        core.meter.recordSentence();
        await this.#say(action.text, action.interruptible && !core.isMachine, speech, interruption);
        return false;
      case "leave_voicemail":
        if (action.text === "" || core.isMachine) return false;
        this.#voicemail = action.text;
        core.media.post({ type: "leave_voicemail", atMs: core.media.playout.clockMs });
        return false;
      case "listen":
        if (!core.isMachine) core.silence.start(action.forMs);
        return false;
      case "resume":
        await speech.resume(core.signal, interruption);
        return false;
      case "press":
        this.#calleeTurns.closeTurn();
        await core.press(action.keys);
        return false;
      case "transfer":
        return interruption.aborted ? false : this.#transfer(action.to);
      case "fail":
        this.#end({ type: "message_failed", reason: "agent_failed", detail: action.detail });
        return true;
      case "hang_up":
        // The callee has interrupted, so the agent listens first.
        if (interruption.aborted && !core.isTimeUp) return false;
        this.#end(core.hangUpSignal(action.detail));
        return true;
    }
  }

  /**
   * Leaves the agent's message on the machine, and ends the call; returns true.
   * @param reply carries out the agent's reply, which is the message unless the agent has already chosen one
   */
  async leaveVoicemail(speech: AgentSpeech, reply: () => Promise<unknown>): Promise<true> {
    if (this.#voicemail === undefined) await reply();
    else await this.#say(this.#voicemail, false, speech);
    if (this.#core.turn === "machine_records") this.#end({ type: "message_played" });
    return true;
  }

  /** Apologises for the agent, and ends the call. @param detail the reason, for an operator */
  async apologise(apology: string, detail: string, speech: AgentSpeech): Promise<void> {
    const { context, call, signal } = this.#core;
    this.#core.apply("end");
    await this.#say(apology, false, speech).catch((error: unknown) => {
      signal.throwIfAborted();
      context.log.warn({ call_id: call.id, err: error }, "the apology for the agent was not spoken");
    });
    this.#end({ type: "message_failed", reason: "agent_failed", detail });
  }

  async #say(text: string, interruptible: boolean, speech: AgentSpeech, interruption?: AbortSignal): Promise<void> {
    if (!interruptible) this.#core.apply("release");
    await speech.say(text, interruptible, this.#core.signal, interruption);
  }

  #end(signal: CallSignal): void {
    this.#core.apply("end");
    void this.#core.askResult();
    this.#core.endAfterLastWord(signal);
  }

  /**
   * Transfers the call after the last word, whatever the callee does in the meantime; returns true if the call has
   * ended.
   */
  async #transfer(to: string): Promise<boolean> {
    const { signal } = this.#core;
    this.#core.apply("transfer");
    await new Promise<void>((resolve) => {
      this.#core.whenPlayed(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    return this.#core.transfer(to);
  }
}
