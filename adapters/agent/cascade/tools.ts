import { hasWords } from "../../../src/base/has-words.ts";
import type { OfferedTool } from "../../../src/ports/agent-tool.ts";
import type { AgentBrief } from "../../../src/ports/conversation.ts";
import { jsonOf } from "../../provider-http/fault-text.ts";
import type { ToolCall, ToolSpec } from "./chat-messages.ts";

/** Maximum length of a message for a machine, characters. */
const MAX_VOICEMAIL = 2_000;

/** The description of a tool for a model. */
export type ToolText = Pick<OfferedTool, "name" | "description" | "parameters">;

/** The tools that every agent has. */
const BUILT_IN_TOOLS: readonly ToolText[] = [
  {
    name: "hang_up",
    description: "Ends the call once your last words have been heard. Say goodbye first.",
    parameters: { type: "object", properties: {}, additionalProperties: false },
  },
  {
    name: "leave_voicemail",
    description:
      "If a voicemail or an answering machine has answered: waits for its beep, leaves the text as the message, and ends the call.",
    parameters: {
      type: "object",
      properties: { text: { type: "string", minLength: 1, maxLength: 2000 } },
      required: ["text"],
      additionalProperties: false,
    },
  },
  {
    name: "send_dtmf",
    description: "Presses keys, for example in the menu of a machine.",
    parameters: {
      type: "object",
      properties: { keys: { type: "string", pattern: "^[0-9*#]{1,32}$" } },
      required: ["keys"],
      additionalProperties: false,
    },
  },
];

/** Actions that a call offers its model, besides speaking. */
export type CallTools = Pick<AgentBrief, "tools" | "canTransfer" | "transferTo">;

/** The tools of a call, as the model sees them. */
export function toolSpecs(call: CallTools): ToolSpec[] {
  return toolsOf(call).map(({ name, description, parameters }) => ({
    type: "function",
    function: { name, description, parameters },
  }));
}

/** The action for a tool call; a fault is passed to the model as the result. */
export type ToolAction =
  | { readonly do: "hang_up" }
  | { readonly do: "leave_voicemail"; readonly text: string }
  | { readonly do: "press"; readonly keys: string }
  | { readonly do: "transfer"; readonly to: string }
  | { readonly do: "run"; readonly tool: OfferedTool; readonly input: string }
  | { readonly do: "refuse"; readonly fault: string };

export function actionOf({ function: { name, arguments: input } }: ToolCall, call: CallTools = {}): ToolAction {
  if (name === "hang_up") return { do: "hang_up" };
  if (name === "leave_voicemail") return voicemailOf(input);
  if (name === "send_dtmf") return pressOf(input);
  if (name === "transfer" && numbersOf(call).length > 0) return transferOf(input, numbersOf(call));
  const tool = call.tools?.find((candidate) => candidate.name === name);
  if (tool) return { do: "run", tool, input };
  const names = toolsOf(call).map((tool) => tool.name);
  return { do: "refuse", fault: `there is no tool ${name.slice(0, 64)}, only ${names.join(", ")}` };
}

function voicemailOf(input: string): ToolAction {
  const { text } = (jsonOf(input) ?? {}) as { text?: unknown };
  if (typeof text === "string" && hasWords(text) && text.length <= MAX_VOICEMAIL)
    return { do: "leave_voicemail", text };
  return { do: "refuse", fault: `text must be words, at most ${MAX_VOICEMAIL} characters` };
}

function pressOf(input: string): ToolAction {
  const { keys } = (jsonOf(input) ?? {}) as { keys?: unknown };
  if (typeof keys === "string" && /^[0-9*#]{1,32}$/.test(keys)) return { do: "press", keys };
  return { do: "refuse", fault: "keys must be 1 to 32 characters of 0-9 * #" };
}

/** A model cannot make up a number: it picks one that the call's creator has allowed. */
function transferOf(input: string, numbers: readonly string[]): ToolAction {
  const { to } = (jsonOf(input) ?? {}) as { to?: unknown };
  const allowedNumber = numbers.find((number) => number === to);
  if (allowedNumber !== undefined) return { do: "transfer", to: allowedNumber };
  return { do: "refuse", fault: `to must be one of ${numbers.join(", ")}` };
}

/** The tools of a call. */
export function toolsOf(call: CallTools): ToolText[] {
  const numbers = numbersOf(call);
  return [...BUILT_IN_TOOLS, ...(numbers.length > 0 ? [transferTool(numbers)] : []), ...(call.tools ?? [])];
}

/** The numbers that the call may be transferred to. */
function numbersOf({ canTransfer = false, transferTo = [] }: CallTools): readonly string[] {
  return canTransfer ? transferTo : [];
}

function transferTool(numbers: readonly string[]): ToolText {
  return {
    name: "transfer",
    description:
      "Connects the callee with a person at another number, and ends your part of the call. Announce it first. If it fails, you get the reason and the call continues.",
    parameters: {
      type: "object",
      properties: { to: { type: "string", enum: [...numbers] } },
      required: ["to"],
      additionalProperties: false,
    },
  };
}
