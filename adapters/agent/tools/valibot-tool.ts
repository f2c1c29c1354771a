import { toJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import type { JsonSchema } from "../../../src/domain/input/json-schema.ts";
import { type AgentTool, type ToolContext, ToolFailed, toolsFault } from "../../../src/ports/agent-tool.ts";

/** Maximum number of input faults reported to the model. */
const MAX_FAULTS = 5;

/** A valibot object schema. */
type ObjectSchema = v.GenericSchema<Record<string, unknown>, unknown>;

/** Options of {@link agentTool}. */
export interface AgentToolOptions<Input extends ObjectSchema> extends Pick<AgentTool, "name" | "timeoutMs"> {
  /** Purpose of the tool and when to use it, for the model. */
  readonly description: string;
  /** The input, a `v.object`. `v.description` explains a field to the model. */
  readonly input: Input;
  /** Runs the tool. @throws {ToolFailed} its message is passed to the model; other errors are not */
  run(input: v.InferOutput<Input>, context: ToolContext): unknown;
}

/**
 * A function that an agent's model may call, with a valibot schema for its input. Throws a TypeError for an unusable
 * name or description.
 *
 * @example agentTool({ name: "book", description: "Books a table.", input: v.object({ people: v.pipe(v.number(), v.integer(), v.minValue(1)) }), run: async ({ people }) => ({ table: await freeTable(people) }), });
 */
export function agentTool<const Input extends ObjectSchema>(options: AgentToolOptions<Input>): AgentTool {
  const { name, description, input, timeoutMs } = options;
  const { $schema: _, ...parameters } = toJsonSchema(input, { typeMode: "input", errorMode: "ignore" }) as JsonSchema;
  const tool: AgentTool = {
    name,
    description,
    parameters,
    timeoutMs,
    async run(value, context) {
      const result = await v.safeParseAsync(input, value);
      if (!result.success) throw new ToolFailed(result.issues.slice(0, MAX_FAULTS).map(faultText).join("; "));
      return options.run(result.output, context);
    },
  };
  const fault = toolsFault([tool]);
  if (fault !== undefined) throw new TypeError(fault);
  return tool;
}

function faultText(issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue);
  return path === null ? issue.message : `${path}: ${issue.message}`;
}
