import type { AgentBrief } from "../../../src/ports/conversation.ts";
import { resultIn, resultPrompt } from "../prompts.ts";
import type { RealtimeEvent } from "./realtime-events.ts";
import { RealtimeFault } from "./realtime-link.ts";
import { textCreate } from "./realtime-session.ts";
import type { ReconnectingLink } from "./reconnecting-link.ts";

/** Marks the request in the metadata of its response. */
const PURPOSE = "result";

/** A requested text. */
interface TextRequest {
  readonly id: string;
  /** The response that contains the text; undefined until known. */
  response: string | undefined;
  text: string;
  resolve(text: string): void;
  reject(error: unknown): void;
}

/** Requests the result of a call from the model, outside the conversation. */
export class ResultWriter {
  readonly #brief: AgentBrief;
  readonly #link: ReconnectingLink;
  readonly #replayHistory: () => void;
  #request: TextRequest | undefined;
  #requestCount = 0;

  /** @param replayHistory sends the conversation so far over a new connection */
  constructor(brief: AgentBrief, link: ReconnectingLink, replayHistory: () => void) {
    this.#brief = brief;
    this.#link = link;
    this.#replayHistory = replayHistory;
  }

  /**
   * Requests the result. If the connection breaks, tries once more over another.
   * @param fault fault of the previous value
   */
  async write(fault: string | undefined, signal: AbortSignal): Promise<unknown> {
    const prompt = resultPrompt(this.#brief, "conversation", fault);
    try {
      return resultIn(await this.#writeText(prompt, signal));
    } catch (error) {
      if (signal.aborted || !(error instanceof RealtimeFault) || error.isPermanent) throw error;
      return resultIn(await this.#writeText(prompt, signal));
    }
  }

  /** Handles a server event; returns true if it belongs only to a result. */
  handle(event: RealtimeEvent): boolean {
    const request = this.#request;
    if (request === undefined) return false;
    if (event.type === "error" && event.request === request.id) this.#reject(event.fault);
    else if (event.type === "response_created" && event.purpose === PURPOSE) request.response = event.response;
    else if (event.type === "text") {
      // Assumed to be the result: not all servers repeat the metadata.
      request.response ??= event.response;
      if (event.response === request.response) request.text += event.text;
    } else if (event.type === "response_done" && event.response === request.response) {
      if (event.status === "completed") request.resolve(request.text);
      else this.#reject(event.fault || event.status);
    } else return false;
    return true;
  }

  /** Rejects the pending request, after a lost connection or the end of the call. */
  abort(error: Error): void {
    this.#request?.reject(error);
  }

  async #writeText(instructions: string, signal: AbortSignal): Promise<string> {
    if (await this.#link.reopen()) this.#replayHistory();
    signal.throwIfAborted();
    const id = `result_${++this.#requestCount}`;
    let stop = (): void => {};
    try {
      return await new Promise<string>((resolve, reject) => {
        this.#request = { id, response: undefined, text: "", resolve, reject };
        stop = () => reject(signal.reason);
        signal.addEventListener("abort", stop);
        this.#link.send(textCreate(id, PURPOSE, instructions));
        this.#link.expectMessage();
      });
    } finally {
      this.#request = undefined;
      signal.removeEventListener("abort", stop);
      this.#link.stopTimeout();
    }
  }

  #reject(fault: string): void {
    this.#request?.reject(new Error(this.#link.faultText(`reports: ${fault}`)));
  }
}
