import type { CallOf } from "../../../domain/call.ts";
import type { CallSignal } from "../../../domain/call-signal.ts";
import type { ConversationAction } from "../../../ports/conversation.ts";
import type { Context } from "../../context.ts";
import type { LiveMedia } from "../programs/program.ts";
import type { AgentSpeech } from "./agent-speech.ts";
import type { CallControl } from "./call-control.ts";
import { type TransferFailed, transferCall } from "./call-transfer.ts";
import type { Listening } from "./listening.ts";
import type { SilenceTimer } from "./silence-timer.ts";
import type { TurnMeter } from "./turn-meter.ts";

/** What an {@link AgentActions} works with. */
export interface ActionParts {
  readonly context: Context;
  readonly call: CallOf<"DYNAMIC_AGENT">;
  readonly media: LiveMedia;
  readonly meter: TurnMeter;
  readonly control: CallControl;
  readonly silence: SilenceTimer;
  readonly listening: Listening;
}

/** Callbacks of an {@link AgentActions}. */
export interface ActionReports {
  /** The call ends after the words that are queued. */
  ends(): void;
  /** The call goes on. */
  transferFailed(failed: TransferFailed): void;
}

/** Carries out what an agent does on its call: says, waits, presses keys, transfers, leaves a message, ends the call. */
export class AgentActions {
  readonly #parts: ActionParts;
  readonly #reports: ActionReports;
  /** The agent has decided that the call ends, or goes on with somebody else. */
  #ending = false;
  /** A machine has answered: the call waits until it records, or it does. */
  #machine: "greets" | "records" | undefined;
  /** What the agent has decided to leave as a message; undefined if it is asked for one. */
  #voicemail: string | undefined;

  constructor(parts: ActionParts, reports: ActionReports) {
    this.#parts = parts;
    this.#reports = reports;
  }

  /** Whether the call ends, or is being transferred. */
  get ending(): boolean {
    return this.#ending;
  }

  /** Whether a machine has answered. */
  get toMachine(): boolean {
    return this.#machine !== undefined;
  }

  /** Whether nothing that is heard or pressed changes what happens next. */
  get decided(): boolean {
    return this.#ending || this.toMachine;
  }

  /** A machine has answered: nothing is carried out until {@link machineRecords}. */
  machineGreets(): void {
    this.#machine = "greets";
  }

  /** The machine records; returns whether the agent is to leave its message now. */
  machineRecords(): boolean {
    if (this.#machine !== "greets") return false;
    this.#machine = "records";
    return true;
  }

  /**
   * Carries out one action of a reply; returns whether it ends the call.
   * @param interrupted the callee has interrupted the reply
   * @param signal the call is over
   * @throws {SpeechFailed} or the signal's reason
   */
  async carryOut(
    action: ConversationAction,
    speech: AgentSpeech,
    interrupted: AbortSignal,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (this.#machine === "greets") return false;
    const { media, meter, control, silence, listening } = this.#parts;
    switch (action.type) {
      case "say":
        meter.says();
        await speech.say(action.text, action.interruptible && !this.toMachine, signal);
        return false;
      case "leave_voicemail":
        if (action.text === "" || this.toMachine) return false;
        this.#voicemail = action.text;
        media.post({ type: "leave_voicemail", atMs: media.playout.clockMs });
        return false;
      case "listen":
        if (!this.toMachine) silence.start(action.forMs);
        return false;
      case "resume":
        await speech.resume(signal);
        return false;
      case "press":
        listening.answered();
        await control.press(action.keys);
        return false;
      case "transfer":
        return interrupted.aborted ? false : this.#transfer(action.to, speech, signal);
      case "fail":
        this.#endAfterLastWord(speech, { type: "message_failed", reason: "agent_failed", detail: action.detail });
        return true;
      case "hang_up":
        // The callee has interrupted, and is heard out.
        if (interrupted.aborted && !control.timeIsUp) return false;
        this.#endAfterLastWord(speech, control.hangUpSignal(action.detail));
        return true;
    }
  }

  /**
   * Leaves the message of the agent for a machine to record, and ends the call; returns true.
   * @param asked carries out the agent's reply, which is the message if the agent has not decided on one before
   */
  async leaveVoicemail(speech: AgentSpeech, signal: AbortSignal, asked: () => Promise<unknown>): Promise<true> {
    this.#ending = false;
    if (this.#voicemail === undefined) await asked();
    else {
      speech.beginReply();
      await speech.say(this.#voicemail, false, signal);
    }
    if (!this.#ending) this.#endAfterLastWord(speech, { type: "message_played" });
    return true;
  }

  /** Apologises for the agent, and ends the call. @param detail why, for an operator */
  async apologise(apology: string, detail: string, speech: AgentSpeech, signal: AbortSignal): Promise<void> {
    const { context, call } = this.#parts;
    this.#ending = true;
    await speech.say(apology, false, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      context.log.warn({ call_id: call.id, err: error }, "the apology for the agent was not spoken");
    });
    this.#endAfterLastWord(speech, { type: "message_failed", reason: "agent_failed", detail });
  }

  #endAfterLastWord(speech: AgentSpeech, signal: CallSignal): void {
    this.#ending = true;
    this.#reports.ends();
    speech.release();
    this.#parts.control.endAfterLastWord(signal);
  }

  /** Transfers the call after the last word, whatever the callee does meanwhile; returns whether the call is over for us. */
  async #transfer(to: string, speech: AgentSpeech, signal: AbortSignal): Promise<boolean> {
    const { context, call, media, control } = this.#parts;
    this.#ending = true;
    speech.release();
    await new Promise<void>((resolve) => {
      control.whenPlayed(resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    const failed = await transferCall(context, call, media, to, signal);
    if (failed === undefined) return true;
    this.#ending = false;
    this.#reports.transferFailed(failed);
    return false;
  }
}
