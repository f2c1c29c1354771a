import type { AudioAgentEvent } from "../../../src/ports/audio-conversation.ts";
import type { AgentBrief } from "../../../src/ports/conversation.ts";
import { phrasesIn } from "../agent-phrases.ts";
import { isSlow, TOOL_WAIT_MS } from "../tool-wait.ts";
import { functionOutput, sayExactly } from "./realtime-session.ts";
import type { ReconnectingLink } from "./reconnecting-link.ts";
import type { RealtimeReplies, Response } from "./replies.ts";
import { type CalledTool, runCalls } from "./response-calls.ts";

/** Maximum number of consecutive replies without input from the callee; the last one allows only words. */
const MAX_STEPS = 4;
const INTERRUPTED = "error: not done, because the callee interrupted";

/** Callbacks for the effects of tools. */
export interface ToolReports {
  emit(event: AudioAgentEvent): void;
  hangUp(): void;
}

/** Runs the tools that the model calls, and has the model continue with their results. */
export class CalledTools {
  readonly #brief: AgentBrief;
  readonly #link: ReconnectingLink;
  readonly #replies: RealtimeReplies;
  readonly #reports: ToolReports;
  readonly #scope: AbortSignal;
  /**
   * Number of interruptions so far: a reply follows the results of tools only if there was no interruption in between.
   */
  #interruptionCount = 0;
  #stepCount = 0;
  /** Id of the tool call `transfer` that has no result yet. */
  #pendingTransferId = "";
  /** Message that the model leaves on a voicemail; undefined until the model decides to leave one. */
  message: string | undefined;

  /** @param scope aborted when the call has ended */
  constructor(
    brief: AgentBrief,
    link: ReconnectingLink,
    replies: RealtimeReplies,
    reports: ToolReports,
    scope: AbortSignal,
  ) {
    this.#brief = brief;
    this.#link = link;
    this.#replies = replies;
    this.#reports = reports;
    this.#scope = scope;
  }

  /** Handles an interruption: running tools continue, and the model gets their results without a new reply. */
  interrupt(): void {
    this.#interruptionCount++;
  }

  /** Resets the limit on replies after input from the callee: the model may use tools again. */
  resetSteps(): void {
    this.#stepCount = 0;
  }

  /** Carries out the tool calls of a response; returns true if there are any. */
  carryOut({ calls, hasSpoken }: Response): boolean {
    const calledTools = calls.complete(this.#brief);
    if (calledTools.length > 0) void this.#run(calledTools, hasSpoken);
    return calledTools.length > 0;
  }

  /** Reports a failed transfer to the model; the call continues. */
  transferFailed(detail: string): void {
    this.#link.send(functionOutput(this.#pendingTransferId, `error: ${detail}`));
    this.#replies.request({ to: "words", continues: true });
  }

  async #run(calledTools: readonly CalledTool[], hasSpoken: boolean): Promise<void> {
    const interruptionsBefore = this.#interruptionCount;
    for (const { action } of calledTools)
      if (action.do === "press") this.#reports.emit({ type: "press", keys: action.keys });
    const transfer = calledTools.find(({ action }) => action.do === "transfer");
    const voicemail = calledTools.find(({ action }) => action.do === "leave_voicemail");
    const results = runCalls(calledTools.filter((tool) => tool !== transfer));
    if (!hasSpoken && calledTools.every(({ action }) => action.do === "run"))
      void this.#fillTime(results, interruptionsBefore);
    const { outputs, hangsUp } = await results;
    const isInterrupted = interruptionsBefore !== this.#interruptionCount;
    if (hangsUp && !isInterrupted && !transfer && !voicemail) {
      this.#reports.hangUp();
      return;
    }
    for (const [call, output] of outputs) this.#link.send(functionOutput(call, output));
    if (isInterrupted) {
      if (transfer) this.#link.send(functionOutput(transfer.call, INTERRUPTED));
    } else if (transfer?.action.do === "transfer") {
      this.#pendingTransferId = transfer.call;
      this.#reports.emit({ type: "transfer", to: transfer.action.to });
    } else if (voicemail?.action.do === "leave_voicemail") {
      this.message = voicemail.action.text;
      this.#reports.emit({ type: "leave_voicemail" });
    } else this.#replies.request({ to: "words", continues: true, wordsOnly: ++this.#stepCount >= MAX_STEPS - 1 });
  }

  /** Asks the callee for a moment if the tools take a long time. */
  async #fillTime(results: Promise<unknown>, interruptionsBefore: number): Promise<void> {
    const takesLong = await isSlow(results, TOOL_WAIT_MS, this.#scope);
    if (!takesLong || interruptionsBefore !== this.#interruptionCount) return;
    const instructions = sayExactly(phrasesIn(this.#brief.language).oneMoment);
    this.#replies.request({ to: "words", continues: true, fillsTime: true, instructions, wordsOnly: true });
  }
}
