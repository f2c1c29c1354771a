import { CodedError } from "../base/error.ts";
import type { JsonSchema } from "../domain/input/json-schema.ts";

/** Something that a model may do during a call: a function of the embedding program, or an HTTP request. */
export interface AgentTool {
  /** 1 to 64 of the characters `A-Z a-z 0-9 _ -`. */
  readonly name: string;
  /** Purpose of the tool and when to use it, for the model. */
  readonly description: string;
  /**
   * JSON Schema of the input, which is an object. The core checks the model's input against it; `json-schema.ts` lists
   * the supported keywords.
   */
  readonly parameters: JsonSchema;
  /** Maximum time for a run, ms. Default: 10,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * Runs the tool. The result is passed on as JSON of at most 16,000 characters; undefined becomes null. Concurrent
   * calls by the model run concurrently.
   * @param input the model's input, an object that matches `parameters`
   * @throws {ToolFailed} the model gets the message; other errors are only logged
   */
  run(input: Readonly<Record<string, unknown>>, context: ToolContext): Promise<unknown>;
}

/** The context of a tool's run. */
export interface ToolContext {
  readonly callId: string;
  /** Aborted after `timeoutMs`, and when the call ends; later results are ignored. */
  readonly signal: AbortSignal;
}

/** A tool as the core offers it to an agent for one call, in {@link AgentBrief.tools}. */
export interface OfferedTool extends Pick<AgentTool, "name" | "description" | "parameters"> {
  /**
   * Runs the tool; resolves with the text for the model, which is JSON or starts with `error: `. Never rejects, and
   * takes no longer than the tool's timeout. An interruption by the callee does not end it, because an action may be
   * half done.
   * @param input JSON as the model wrote it, possibly malformed
   */
  run(input: string): Promise<string>;
}

/**
 * Thrown by a tool that failed in a way the model should know about. The message is passed to the model, so it must not
 * contain secrets.
 */
export class ToolFailed extends CodedError {
  override readonly name = "ToolFailed";
  readonly code = "tool_failed";
}

/** Names of the built-in tools, which agents always have or may have. */
export const BUILT_IN_TOOLS = ["hang_up", "send_dtmf", "transfer", "leave_voicemail"] as const;

const NAME = /^[\w-]{1,64}$/;
const MAX_DESCRIPTION = 2_000;
const MAX_TIMEOUT_MS = 60_000;
const MAX_TOOLS = 64;

/** Fault in a list of tools, worded to end a sentence; undefined if there is none. */
export function toolsFault(tools: readonly AgentTool[]): string | undefined {
  const names = new Set<string>();
  for (const { name, description, parameters, timeoutMs } of tools) {
    if (typeof name !== "string" || !NAME.test(name))
      return `"${String(name).slice(0, 64)}" is not a valid tool name: use 1 to 64 characters A-Z a-z 0-9 _ -`;
    if (BUILT_IN_TOOLS.some((builtIn) => builtIn === name))
      return `the tool ${name} has the name of a built-in tool; give it another name`;
    if (names.has(name)) return `two tools are called ${name}; give one of them another name`;
    names.add(name);
    const length = typeof description === "string" ? description.trim().length : 0;
    if (length === 0 || length > MAX_DESCRIPTION)
      return `the tool ${name} needs a description of 1 to ${MAX_DESCRIPTION} characters: the model uses it to choose`;
    if (typeof parameters !== "object" || parameters === null || parameters.type !== "object")
      return `the parameters of the tool ${name} must be a JSON Schema with "type": "object"`;
    if (timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS))
      return `the tool ${name} has timeoutMs ${timeoutMs}: it must be from 1 to ${MAX_TIMEOUT_MS}`;
  }
  return tools.length > MAX_TOOLS ? `there are ${tools.length} tools; at most ${MAX_TOOLS} are possible` : undefined;
}
