import { CodedError } from "../../../base/error.ts";
import { within } from "../../../base/timers.ts";
import type { CallOf } from "../../../domain/calls/call.ts";
import type { EventData, ToolFault } from "../../../domain/events.ts";
import { schemaFaults } from "../../../domain/input/json-schema.ts";
import { type AgentTool, type OfferedTool, ToolFailed } from "../../../ports/agent-tool.ts";
import type { Context } from "../../context.ts";

const TIMEOUT_MS = 10_000;
/** Maximum length of an input that a model may write, characters. */
const MAX_INPUT_CHARACTERS = 20_000;
/** Maximum length of a result, characters of JSON. */
const MAX_RESULT_CHARACTERS = 16_000;
/** Maximum length of a failed tool's message, characters. */
const MAX_MESSAGE_CHARACTERS = 500;
/** Maximum number of tool uses on one call. */
const MAX_USES = 200;

/** Result of one tool use. */
type Use = { readonly text: string; readonly fault: ToolFault | null };

/**
 * The tools of one call for its agent: their input is checked, their time and their results are limited, and none
 * of their errors ends the call.
 * @param scope aborted when the call has ended
 * @param reportUse receives each use of a tool, for the timeline, without its input and result, which may be
 *   confidential
 */
export function offeredTools(
  context: Pick<Context, "system" | "log" | "agentTools">,
  { id: callId, message }: Pick<CallOf<"DYNAMIC_AGENT">, "id" | "message">,
  scope: AbortSignal,
  reportUse: (use: EventData["tool_used"]) => void,
): OfferedTool[] {
  const { system } = context;
  const allowedTools = context.agentTools.filter(({ name }) => message.tools?.includes(name) ?? true);
  let uses = 0;
  return allowedTools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    parameters: tool.parameters,
    async run(input) {
      const startedAt = system.monotonic();
      const { text, fault } =
        ++uses > MAX_USES
          ? failedUse("too_many", `tools were used ${MAX_USES} times on this call, which is the limit`)
          : await use(context, callId, tool, input, scope);
      reportUse({ tool: tool.name, ms: Math.round(system.monotonic() - startedAt), fault });
      return text;
    },
  }));
}

async function use(
  context: Pick<Context, "system" | "log">,
  callId: string,
  tool: AgentTool,
  input: string,
  scope: AbortSignal,
): Promise<Use> {
  const { system, log } = context;
  const ms = tool.timeoutMs ?? TIMEOUT_MS;
  const timeout = new AbortController();
  const timeoutError = () => new ToolTimeout(`no result within ${ms} ms`);
  try {
    const { value, fault } = checkedInput(tool, input); // throws if one of the tool's patterns is invalid
    if (value === undefined) return failedUse("input_invalid", fault);
    scope.throwIfAborted();
    const signal = AbortSignal.any([scope, timeout.signal]);
    const result = (async () => tool.run(value, { callId, signal }))();
    return resultOf(await within(result, { system, ms, timeoutError, signal: scope }));
  } catch (error) {
    if (scope.aborted) return failedUse("call_over", "the call has ended");
    if (error instanceof ToolTimeout) return failedUse("timeout", error.message);
    if (error instanceof ToolFailed) return failedUse("failed", error.message);
    // The message of any other error may contain data that the model must not see.
    log.warn({ call_id: callId, tool: tool.name, err: error }, "a tool of an agent failed");
    return failedUse("failed", "the tool failed");
  } finally {
    timeout.abort(timeoutError());
  }
}

/** Thrown if a tool does not return in time. */
class ToolTimeout extends CodedError {
  readonly code = "tool_late";
}

function checkedInput(
  { parameters }: AgentTool,
  text: string,
): { readonly value?: Readonly<Record<string, unknown>>; readonly fault: string } {
  if (text.length > MAX_INPUT_CHARACTERS)
    return { fault: `the input has ${text.length} characters, at most ${MAX_INPUT_CHARACTERS} are allowed` };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { fault: "the input is not JSON" };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { fault: "the input must be a JSON object" };
  const faults = schemaFaults(parameters, value);
  return faults.length > 0 ? { fault: faults.join("; ") } : { value: value as Record<string, unknown>, fault: "" };
}

function resultOf(result: unknown): Use {
  let text: string | undefined;
  try {
    text = JSON.stringify(result ?? null);
  } catch {
    // A cycle, or a BigInt.
  }
  if (text === undefined) return failedUse("result_invalid", "the result of the tool is not JSON");
  if (text.length > MAX_RESULT_CHARACTERS)
    return failedUse(
      "result_invalid",
      `the result has ${text.length} characters, at most ${MAX_RESULT_CHARACTERS} are allowed`,
    );
  return { text, fault: null };
}

function failedUse(fault: ToolFault, message: string): Use {
  return { text: `error: ${message.slice(0, MAX_MESSAGE_CHARACTERS)}`, fault };
}
