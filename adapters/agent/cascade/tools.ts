import { jsonOf } from "../../engine-http/fault-text.ts";
import type { ToolCall, ToolSpec } from "./chat-messages.ts";

/** The tools that every agent has. */
export const TOOLS: readonly ToolSpec[] = [
  {
    type: "function",
    function: {
      name: "hang_up",
      description: "Ends the call, after what you have said was heard. Say goodbye before.",
      parameters: { type: "object", properties: {}, additionalProperties: false },
    },
  },
  {
    type: "function",
    function: {
      name: "send_dtmf",
      description: "Presses keys, for example in the menu of a machine.",
      parameters: {
        type: "object",
        properties: { keys: { type: "string", pattern: "^[0-9*#]{1,32}$" } },
        required: ["keys"],
        additionalProperties: false,
      },
    },
  },
];

/** The action behind a tool call; the model gets the fault as the result. */
export type ToolAction =
  | { readonly do: "hang_up" }
  | { readonly do: "press"; readonly keys: string }
  | { readonly do: "refuse"; readonly fault: string };

export function actionOf({ function: { name, arguments: given } }: ToolCall): ToolAction {
  if (name === "hang_up") return { do: "hang_up" };
  if (name !== "send_dtmf") return { do: "refuse", fault: `there is no tool ${name}` };
  const { keys } = (jsonOf(given) ?? {}) as { keys?: unknown };
  if (typeof keys === "string" && /^[0-9*#]{1,32}$/.test(keys)) return { do: "press", keys };
  return { do: "refuse", fault: "keys must be 1 to 32 of 0-9 * #" };
}
