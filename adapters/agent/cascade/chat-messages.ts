/** A chat message, in the format of `POST /chat/completions`. */
export type ChatMessage =
  | { readonly role: "system" | "user"; readonly content: string }
  | { readonly role: "assistant"; readonly content: string | null; readonly tool_calls?: readonly ToolCall[] }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string };

/** A tool call by the model. */
export interface ToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A tool as the model sees it. */
export interface ToolSpec {
  readonly type: "function";
  readonly function: {
    readonly name: string;
    readonly description: string;
    /** JSON Schema. */
    readonly parameters: Readonly<Record<string, unknown>>;
  };
}

/** Request to a model. */
export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ToolSpec[] | undefined;
  /** True if the model may not call tools. Default: false. */
  readonly wordsOnly?: boolean | undefined;
  /** Asks for JSON that matches this schema; not every server supports this. */
  readonly format?: Readonly<Record<string, unknown>> | undefined;
}

/** A part of a completion. */
export type ChatPart =
  | { readonly type: "text"; readonly text: string }
  /** A complete call with all its arguments. */
  | { readonly type: "tool"; readonly call: ToolCall }
  /** Tokens of the whole request, if the server counts them. */
  | { readonly type: "usage"; readonly tokens: number };
