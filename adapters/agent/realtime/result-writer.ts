import type { AgentBrief } from "../../../src/ports/conversation.ts";
import { resultIn, resultPrompt } from "../prompts.ts";
import type { LastingLink } from "./lasting-link.ts";
import type { RealtimeEvent } from "./realtime-events.ts";
import { RealtimeFault } from "./realtime-link.ts";
import { textCreate } from "./realtime-session.ts";

/** Marks the request in the metadata of its response. */
const PURPOSE = "result";

/** A requested text. */
interface Requested {
  readonly id: string;
  /** The response that writes it; undefined until that is known. */
  response: string | undefined;
  text: string;
  resolve(text: string): void;
  reject(error: unknown): void;
}

/** Has the model write the result of a call, outside the conversation that its server still holds. */
export class ResultWriter {
  readonly #brief: AgentBrief;
  readonly #link: LastingLink;
  readonly #introduce: () => void;
  #requested: Requested | undefined;
  #requests = 0;

  /** @param introduce sends the conversation so far to a connection that does not know it */
  constructor(brief: AgentBrief, link: LastingLink, introduce: () => void) {
    this.#brief = brief;
    this.#link = link;
    this.#introduce = introduce;
  }

  /** The result. If the connection breaks in the meantime, another one is tried once. @param fault fault of the previous value */
  async state(fault: string | undefined, signal: AbortSignal): Promise<unknown> {
    const prompt = resultPrompt(this.#brief, "conversation", fault);
    try {
      return resultIn(await this.#written(prompt, signal));
    } catch (error) {
      if (signal.aborted || !(error instanceof RealtimeFault) || error.isPermanent) throw error;
      return resultIn(await this.#written(prompt, signal));
    }
  }

  /** Handles an event of the server; returns true if it belongs only to a result. */
  takes(event: RealtimeEvent): boolean {
    const requested = this.#requested;
    if (requested === undefined) return false;
    if (event.type === "error" && event.request === requested.id) this.#refused(event.fault);
    else if (event.type === "response_created" && event.purpose === PURPOSE) requested.response = event.response;
    else if (event.type === "text") {
      // Assumed to be the result: not all servers repeat the metadata.
      requested.response ??= event.response;
      if (event.response === requested.response) requested.text += event.text;
    } else if (event.type === "response_done" && event.response === requested.response) {
      if (event.status === "completed") requested.resolve(requested.text);
      else this.#refused(event.fault || event.status);
    } else return false;
    return true;
  }

  /** Rejects the pending request, after a lost connection or the end of the call. */
  breakOff(error: Error): void {
    this.#requested?.reject(error);
  }

  async #written(instructions: string, signal: AbortSignal): Promise<string> {
    if (await this.#link.reopen()) this.#introduce();
    signal.throwIfAborted();
    const id = `result_${++this.#requests}`;
    let stop = (): void => {};
    try {
      return await new Promise<string>((resolve, reject) => {
        this.#requested = { id, response: undefined, text: "", resolve, reject };
        stop = () => reject(signal.reason);
        signal.addEventListener("abort", stop);
        this.#link.send(textCreate(id, PURPOSE, instructions));
        this.#link.expect();
      });
    } finally {
      this.#requested = undefined;
      signal.removeEventListener("abort", stop);
      this.#link.settle();
    }
  }

  #refused(fault: string): void {
    this.#requested?.reject(new Error(this.#link.faultText(`reports: ${fault}`)));
  }
}
