import * as v from "valibot";
import { hasWords } from "../../base/has-words.ts";
import { MACHINE_POLICIES, type OnMachine } from "../answering/answering-machine.ts";
import { agentOnScreeningSchema } from "../answering/screening-policy.ts";
import { characters, isObject, issuePath, issueText, type Schema, withJsonSchema } from "../input/input-checks.ts";
import type { JsonSchema } from "../input/json-schema.ts";
import type { Limits } from "../limits.ts";
import { PHONE_NUMBER, PHONE_RULE } from "../numbers/phone-number.ts";
import { fillPlaceholders, placeholderFault, placeholdersOf, type Variables } from "./agent-variables.ts";
import { resultSchemaSchema } from "./result-schema.ts";

/** The agent of a `DYNAMIC_AGENT` call: the field `agent`. */
export interface AgentInput {
  /** Natural-language instructions, in order. `{{name}}` is replaced by a variable, if there are variables. */
  instructions: string[];
  /** The voice of the agent. Default: a voice for the language, otherwise the server's voice. */
  voiceId?: string | undefined;
  /** BCP 47 tag of the language that the agent speaks: `pt-BR`. Default: the voice's language. */
  language?: string | undefined;
  /** First words of the agent; null: it waits until the callee speaks. Default: the agent decides. */
  firstMessage?: string | null | undefined;
  /** Values for `{{name}}`: data that the agent never treats as instructions. */
  variables?: Variables | undefined;
  /** Maximum number of replies of the agent, after which it says goodbye. Default: the agent's own limit. */
  maxTurns?: number | undefined;
  /**
   * Numbers that the agent may transfer the call to, E.164. Default: none for a model; for a script, those of its
   * steps.
   */
  transferTo?: string[] | undefined;
  /**
   * Maximum duration of the conversation, s; then the agent says goodbye. Default: `maxDurationMs` of the server, which
   * always applies too.
   */
  maxSeconds?: number | undefined;
  /** Names of the server's tools that the agent may use. Default: all of them. */
  tools?: string[] | undefined;
  /** JSON Schema of the result. With it, the agent reports its findings at the end. Default: no such result. */
  resultSchema?: JsonSchema | undefined;
  /** Behaviour once a machine has answered. Default: `continue`, as with a person. */
  onMachine?: OnMachine | undefined;
  /** Policy if a call-screening assistant answers. Default: `continue`; the agent introduces itself. */
  onScreening?: "continue" | "hang_up" | undefined;
}

/** A language, and optionally a script and a region. */
export const LANGUAGE: RegExp = /^[a-z]{2,3}(?:-[A-Z][a-z]{3})?(?:-(?:[A-Z]{2}|\d{3}))?$/;
const MAX_VARIABLES = 50;
const MAX_VALUE = 1_000;
const NAME = /^[A-Za-z]\w{0,63}$/;
const MAX_TURNS = 1_000;
const MAX_TRANSFER_NUMBERS = 20;
const MIN_SECONDS = 10;
const MAX_SECONDS = 3_600;
const MAX_TOOLS = 64;

/** The schema of the field `agent`. @param voiceId the schema of the agent's voice */
export function agentSchema(limits: Limits, voiceId: Schema<string>): Schema<AgentInput> {
  const agent = v.object({
    instructions: instructionsSchema(limits),
    voiceId: v.optional(voiceId),
    language: v.optional(
      v.pipe(v.string(), v.regex(LANGUAGE, issueText("value_invalid", "must be a language tag, such as en or pt-BR"))),
    ),
    firstMessage: v.optional(
      v.nullable(
        v.pipe(
          v.string(),
          characters(1, limits.textLength, "the first message"),
          v.check(
            (text) => text === "" || text.length > 4 * limits.textLength || hasWords(text),
            issueText("text_unspeakable", "the text has no letter and no digit, so there is nothing to speak"),
          ),
        ),
      ),
    ),
    variables: v.optional(variablesSchema()),
    onMachine: v.optional(onMachineSchema()),
    onScreening: v.optional(agentOnScreeningSchema()),
    maxTurns: v.optional(wholeNumber(1, MAX_TURNS)),
    maxSeconds: v.optional(wholeNumber(MIN_SECONDS, MAX_SECONDS)),
    tools: v.optional(toolNamesSchema()),
    resultSchema: v.optional(resultSchemaSchema()),
    transferTo: v.optional(transferToSchema()),
  });
  return v.pipe(
    agent,
    v.rawCheck<v.InferOutput<typeof agent>>(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const { instructions, firstMessage, variables } = dataset.value;
      if (variables === undefined) return;
      const texts = [...instructions, ...(firstMessage ? [firstMessage] : [])];
      for (const [index, text] of texts.entries()) {
        const fault = placeholderFault(text);
        const path = index < instructions.length ? issuePath("instructions", index) : issuePath("firstMessage");
        if (fault !== undefined) addIssue({ message: issueText("placeholder_invalid", fault), path });
      }
      const missingName = texts.flatMap(placeholdersOf).find((name) => !Object.hasOwn(variables, name));
      const maxLength = Math.max(...texts.map((text) => fillPlaceholders(text, variables).length));
      if (missingName !== undefined)
        addIssue({ message: issueText("value_invalid", `has no variable for {{${missingName}}}`) });
      else if (maxLength > limits.textLength)
        addIssue({
          message: issueText(
            "too_long",
            `a text has ${maxLength} characters with its variables, at most ${limits.textLength} are allowed`,
          ),
        });
    }),
  ) as Schema<AgentInput>;
}

function wholeNumber(min: number, max: number): Schema<number> {
  return v.pipe(
    v.number(),
    v.integer(issueText("value_invalid", "must be a whole number")),
    v.minValue(min, issueText("value_invalid", `must be at least ${min}`)),
    v.maxValue(max, issueText("value_invalid", `must be at most ${max}`)),
  );
}

function toolNamesSchema(): Schema<string[]> {
  return withJsonSchema(
    v.pipe(
      v.any(),
      v.rawCheck<unknown>(({ dataset: { value }, addIssue }) => {
        if (!Array.isArray(value)) return addIssue({ message: issueText("type_invalid", "must be an array") });
        if (value.length > MAX_TOOLS)
          addIssue({ message: issueText("too_long", `at most ${MAX_TOOLS} names are allowed`) });
        else if (!value.every((name) => typeof name === "string"))
          addIssue({ message: issueText("type_invalid", "must be an array of names") });
      }),
    ),
    {
      type: "array",
      maxItems: MAX_TOOLS,
      items: { type: "string" },
      description: "Names of the server's tools that the agent may use. Default: all of them.",
    },
  ) as Schema<string[]>;
}

/** The schema of a field `onMachine`. */
export function onMachineSchema(): Schema<OnMachine> {
  return v.picklist(MACHINE_POLICIES, issueText("value_invalid", `must be one of ${MACHINE_POLICIES.join(", ")}`));
}

function instructionsSchema(limits: Limits): Schema<string[]> {
  const instruction = v.pipe(v.string(), characters(1, limits.instructionLength, "the instruction"));
  return withJsonSchema(
    v.pipe(
      v.any(),
      // Checked before the items: a body can hold millions, each with its own fault.
      v.rawCheck<unknown>(({ dataset: { value }, addIssue }) => {
        if (!Array.isArray(value)) return addIssue({ message: issueText("type_invalid", "must be an array") });
        if (value.length === 0) addIssue({ message: issueText("too_short", "give at least one instruction") });
        if (value.length > limits.instructions)
          addIssue({ message: issueText("too_long", `at most ${limits.instructions} instructions are allowed`) });
      }),
      v.array(instruction),
    ),
    {
      type: "array",
      minItems: 1,
      maxItems: limits.instructions,
      items: { type: "string", minLength: 1, maxLength: limits.instructionLength },
    },
  );
}

function transferToSchema(): Schema<string[]> {
  return withJsonSchema(
    v.pipe(
      v.any(),
      // Checked before the items, as for the instructions.
      v.rawCheck<unknown>(({ dataset: { value }, addIssue }) => {
        if (!Array.isArray(value)) return addIssue({ message: issueText("type_invalid", "must be an array") });
        if (value.length > MAX_TRANSFER_NUMBERS)
          addIssue({ message: issueText("too_long", `at most ${MAX_TRANSFER_NUMBERS} numbers are allowed`) });
      }),
      v.array(v.pipe(v.string(), v.regex(PHONE_NUMBER, issueText("phone_number_invalid", PHONE_RULE)))),
    ),
    {
      type: "array",
      maxItems: MAX_TRANSFER_NUMBERS,
      items: { type: "string", pattern: PHONE_NUMBER.source },
      description: "The only numbers that the agent may transfer the call to. Without it, a model transfers no call.",
    },
  ) as Schema<string[]>;
}

function variablesSchema(): Schema<Variables> {
  // v.record would silently drop keys such as "constructor".
  const schema = v.pipe(
    v.any(),
    v.rawCheck<unknown>(({ dataset: { value }, addIssue }) => {
      const refuse = (code: "type_invalid" | "value_invalid" | "too_long", sentence: string): void =>
        addIssue({ message: issueText(code, sentence) });
      if (!isObject(value)) return refuse("type_invalid", "must be an object");
      const entries = Object.entries(value);
      if (entries.length > MAX_VARIABLES) return refuse("too_long", `at most ${MAX_VARIABLES} variables are allowed`);
      for (const [name, value] of entries) {
        if (!NAME.test(name))
          return refuse(
            "value_invalid",
            `"${name.slice(0, 64)}" is not a valid name: use letters, digits and _, starting with a letter`,
          );
        const isText = typeof value === "string";
        if (!isText && typeof value !== "boolean" && !Number.isFinite(value))
          return refuse("value_invalid", `${name} must be a string, a number, true or false`);
        if (isText && value.length > MAX_VALUE)
          return refuse("too_long", `${name} has ${value.length} characters, at most ${MAX_VALUE} are allowed`);
      }
    }),
  );
  return withJsonSchema(schema, {
    type: "object",
    maxProperties: MAX_VARIABLES,
    additionalProperties: {
      anyOf: [{ type: "string", maxLength: MAX_VALUE }, { type: "number" }, { type: "boolean" }],
    },
    description: "Values for `{{name}}` in the instructions and in the first message.",
  }) as Schema<Variables>;
}
