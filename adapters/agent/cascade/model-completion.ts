import { jsonOf, quoteOf } from "../../provider-http/fault-text.ts";
import type { ChatPart, ToolCall } from "./chat-messages.ts";

/** Maximum length of a completion, characters. */
const MAX_COMPLETION_LENGTH = 20_000;
/** Maximum number of tool calls in one completion. */
const MAX_CALLS = 16;

/** A completion that arrives in chunks. */
export class ModelCompletion {
  /** True if its end has arrived. */
  isDone = false;
  readonly #calls: { id: string; name: string; arguments: string }[] = [];
  #length = 0;

  /**
   * Reads the data of the next event.
   * @throws {Error} the data is not a completion chunk, or the completion is too long
   */
  *read(data: string): Generator<ChatPart, void> {
    const chunk = jsonOf(data) as Chunk | null;
    if (chunk === null) throw new Error("it sent broken JSON");
    if (chunk.error !== undefined && chunk.error !== null) throw new Error(`it reports: ${quoteOf(chunk)}`);
    const choice = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    const { content, tool_calls: calls } = choice?.delta ?? {};
    if (typeof content === "string" && content !== "") {
      this.#grow(content);
      yield { type: "text", text: content };
    }
    if (Array.isArray(calls)) for (const call of calls) this.#add(call);
    // Some servers end a stream without [DONE].
    if (typeof choice?.finish_reason === "string") this.isDone = true;
    const tokens = chunk.usage?.total_tokens;
    if (typeof tokens === "number") yield { type: "usage", tokens };
  }

  /** Yields the tool calls, once all chunks have arrived. */
  *calls(): Generator<ChatPart, void> {
    for (const [index, { id, name, arguments: json }] of this.#calls.entries()) {
      if (name === "") continue;
      const call: ToolCall = {
        id: id || `call_${index}`,
        type: "function",
        function: { name, arguments: json || "{}" },
      };
      yield { type: "tool", call };
    }
  }

  #add({ index = this.#calls.length, id, function: part }: CallChunk): void {
    if (!Number.isInteger(index) || index < 0 || index >= MAX_CALLS) throw new Error("it calls too many tools at once");
    while (this.#calls.length <= index) this.#calls.push({ id: "", name: "", arguments: "" });
    const call = this.#calls[index]!;
    if (typeof id === "string" && id !== "") call.id = id;
    if (typeof part?.name === "string") call.name += part.name;
    if (typeof part?.arguments === "string") {
      call.arguments += part.arguments;
      this.#grow(part.arguments);
    }
  }

  #grow(text: string): void {
    this.#length += text.length;
    if (this.#length > MAX_COMPLETION_LENGTH) throw new Error(`it sent more than ${MAX_COMPLETION_LENGTH} characters`);
  }
}

/** The fields of a chunk that are used; any may be missing. */
interface Chunk {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: unknown; readonly tool_calls?: readonly CallChunk[] };
    readonly finish_reason?: unknown;
  }[];
  readonly usage?: { readonly total_tokens?: unknown } | null;
  readonly error?: unknown;
}

interface CallChunk {
  readonly index?: number;
  readonly id?: unknown;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown };
}
