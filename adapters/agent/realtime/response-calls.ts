import type { AgentBrief } from "../../../src/ports/conversation.ts";
import { actionOf, type ToolAction } from "../cascade/tools.ts";

/** Maximum number of function calls in one response. */
const MAX_CALLS = 16;
const NOT_HUNG_UP = "error: not hung up, because another tool failed";

/** A function call from the model, and the resulting action. */
export interface CalledTool {
  readonly call: string;
  readonly action: ToolAction;
}

/** The function calls of one response, assembled from their parts. */
export class ResponseCalls {
  readonly #calls = new Map<string, { name: string; input: string | undefined }>();

  /** Adds a part of a call. */
  add(call: string, name: string, input: string | undefined): void {
    if (call === "" || (!this.#calls.has(call) && this.#calls.size >= MAX_CALLS)) return;
    const entry = this.#calls.get(call);
    this.#calls.set(call, { name: name || (entry?.name ?? ""), input: input ?? entry?.input });
  }

  /** The complete calls, in order; partial ones are dropped. */
  complete(brief: AgentBrief): CalledTool[] {
    return [...this.#calls].flatMap(([call, { name, input }]) =>
      name === "" || input === undefined
        ? []
        : {
            call,
            action: actionOf({ id: call, type: "function", function: { name, arguments: input || "{}" } }, brief),
          },
    );
  }
}

/**
 * Runs the called tools concurrently; resolves with the output of each call for the model.
 * @returns `hangsUp`: true if the model hangs up and no tool has failed
 */
export async function runCalls(
  calls: readonly CalledTool[],
): Promise<{ readonly outputs: readonly (readonly [call: string, output: string])[]; readonly hangsUp: boolean }> {
  const outputs = await Promise.all(
    calls.map(async ({ call, action }): Promise<readonly [string, string]> => {
      if (action.do === "run") return [call, await action.tool.run(action.input)];
      return [call, action.do === "refuse" ? `error: ${action.fault}` : "done"];
    }),
  );
  const hasFailed = outputs.some(([, output]) => output.startsWith("error: "));
  const hangUpCalls = new Set(calls.filter(({ action }) => action.do === "hang_up").map(({ call }) => call));
  const hangsUp = hangUpCalls.size > 0 && !hasFailed;
  return {
    outputs: outputs.map(([call, output]) => [call, hangUpCalls.has(call) && hasFailed ? NOT_HUNG_UP : output]),
    hangsUp,
  };
}
