import type { ConversationAction } from "../../../src/ports/conversation.ts";
import { isSlow } from "../tool-wait.ts";
import type { ChatMessage, ToolCall } from "./chat-messages.ts";
import { actionOf, type CallTools, type ToolAction } from "./tools.ts";

/** Placeholder for the result of a tool that is still running; the result replaces it. */
const STILL_RUNNING = "it is not finished yet";
const NOT_BEGUN = "error: not done, because the callee interrupted";
const NOT_TRANSFERRED = "error: not transferred, because another tool failed";
const NOT_HUNG_UP = "error: not hung up, because another tool failed";

/**
 * The tools that one completion calls. They run concurrently, and each result is added to the history as soon as it is
 * available, even if the callee has interrupted: an interruption does not undo an action that has started.
 */
export class ToolRound {
  readonly #history: ChatMessage[];
  readonly #calls: readonly { readonly call: ToolCall; readonly action: ToolAction }[];
  /** Indexes of the results in the history. */
  readonly #indexes: readonly number[];
  readonly #runningTools: Promise<void>[] = [];
  #hasFailed = false;

  /**
   * Adds a result for each call to the history, and starts the tools.
   * @param shouldStart false to start none, because the callee has interrupted
   */
  constructor(history: ChatMessage[], calls: readonly ToolCall[], tools: CallTools, shouldStart: boolean) {
    this.#history = history;
    this.#calls = calls.map((call) => ({ call, action: actionOf(call, tools) }));
    this.#indexes = calls.map(
      ({ id }) =>
        history.push({ role: "tool", tool_call_id: id, content: shouldStart ? STILL_RUNNING : NOT_BEGUN }) - 1,
    );
    if (shouldStart) for (const [index, { action }] of this.#calls.entries()) this.#start(index, action);
  }

  /** True while tools whose results are needed are running. */
  get isRunning(): boolean {
    return this.#runningTools.length > 0;
  }

  /** Waits at most `ms` for the tools; resolves with true if they are still running. */
  isSlow(ms: number, signal: AbortSignal): Promise<boolean> {
    return isSlow(Promise.all(this.#runningTools), ms, signal);
  }

  /** Resolves when all tools have their results. @throws the signal's reason; the tools continue */
  async whenFinished(signal: AbortSignal): Promise<void> {
    let stop = (): void => {};
    const aborted = new Promise<void>((resolve) => {
      stop = resolve;
      signal.addEventListener("abort", stop);
    });
    if (!signal.aborted) await Promise.race([Promise.all(this.#runningTools), aborted]);
    signal.removeEventListener("abort", stop);
    signal.throwIfAborted();
  }

  /**
   * The calls that are actions of the agent itself, in order. Call this after {@link whenFinished}, since a failed tool
   * keeps the phone call open.
   */
  *actions(): Generator<ConversationAction> {
    for (const { action } of this.#calls) if (action.do === "press") yield { type: "press", keys: action.keys };
    const transfer = this.#calls.find(({ action }) => action.do === "transfer");
    if (transfer?.action.do === "transfer") {
      if (this.#hasFailed) this.#result(this.#calls.indexOf(transfer), NOT_TRANSFERRED);
      else yield { type: "transfer", to: transfer.action.to };
      return;
    }
    for (const { action } of this.#calls) {
      if (action.do !== "leave_voicemail") continue;
      yield { type: "leave_voicemail", text: action.text };
      return;
    }
    const hangUpIndex = this.#calls.findIndex(({ action }) => action.do === "hang_up");
    if (hangUpIndex < 0) return;
    if (this.#hasFailed) this.#result(hangUpIndex, NOT_HUNG_UP);
    else yield { type: "hang_up" };
  }

  /**
   * Reports a failed transfer to the model.
   * @param reason the network's reason, passed as a tool result so that it is not an instruction
   */
  transferFailed(reason: string): void {
    const index = this.#calls.findIndex(({ action }) => action.do === "transfer");
    if (index >= 0) this.#result(index, `error: the transfer has failed, the callee is still here: ${reason}`);
  }

  #start(index: number, action: ToolAction): void {
    if (action.do === "refuse") {
      this.#hasFailed = true;
      this.#result(index, `error: ${action.fault}`);
    } else if (action.do === "run")
      this.#runningTools.push(
        action.tool.run(action.input).then((text) => {
          this.#hasFailed ||= text.startsWith("error: ");
          this.#result(index, text);
        }),
      );
    else this.#result(index, action.do === "transfer" ? NOT_BEGUN : "done");
  }

  #result(index: number, content: string): void {
    const { id } = this.#calls[index]!.call;
    this.#history[this.#indexes[index]!] = { role: "tool", tool_call_id: id, content };
  }
}
