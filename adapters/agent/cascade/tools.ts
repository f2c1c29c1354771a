import type { OfferedTool } from "../../../src/ports/agent-tool.ts";
import { jsonOf } from "../../engine-http/fault-text.ts";
import type { ToolCall, ToolSpec } from "./chat-messages.ts";

/** The tools that every agent has. */
const BUILT_IN: readonly Pick<OfferedTool, "name" | "description" | "parameters">[] = [
  {
    name: "hang_up",
    description: "Ends the call, after what you have said was heard. Say goodbye before.",
    parameters: { type: "object", properties: {}, additionalProperties: false },
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

/** The tools of a call, as the model sees them. */
export function toolSpecs(offered: readonly OfferedTool[]): ToolSpec[] {
  return [...BUILT_IN, ...offered].map(({ name, description, parameters }) => ({
    type: "function",
    function: { name, description, parameters },
  }));
}

/** The action behind a tool call; the model gets the fault as the result. */
export type ToolAction =
  | { readonly do: "hang_up" }
  | { readonly do: "press"; readonly keys: string }
  | { readonly do: "run"; readonly tool: OfferedTool; readonly input: string }
  | { readonly do: "refuse"; readonly fault: string };

export function actionOf(
  { function: { name, arguments: input } }: ToolCall,
  offered: readonly OfferedTool[] = [],
): ToolAction {
  if (name === "hang_up") return { do: "hang_up" };
  if (name !== "send_dtmf") {
    const tool = offered.find((one) => one.name === name);
    if (tool) return { do: "run", tool, input };
    const names = [...BUILT_IN, ...offered].map((one) => one.name).join(", ");
    return { do: "refuse", fault: `there is no tool ${name.slice(0, 64)}, only ${names}` };
  }
  const { keys } = (jsonOf(input) ?? {}) as { keys?: unknown };
  if (typeof keys === "string" && /^[0-9*#]{1,32}$/.test(keys)) return { do: "press", keys };
  return { do: "refuse", fault: "keys must be 1 to 32 of 0-9 * #" };
}
