import { fillPlaceholders, placeholderFault, placeholdersOf } from "../agents/agent-variables.ts";
import { isObject } from "../input/input-checks.ts";
import { escapePointer } from "../input/input-parser.ts";
import type { Fault } from "../refusal.ts";
import type { BatchMessage, TargetVariables } from "./batch.ts";

/** Fields of a message whose texts may have placeholders. */
const TEMPLATE_FIELDS = ["tts", "agent"] as const;

/** The variables that a message needs, each once, in the order of their first use. */
export function variablesOf(message: BatchMessage): string[] {
  const names = new Set<string>();
  for (const field of TEMPLATE_FIELDS)
    mapTexts(message[field], (text) => {
      for (const name of placeholdersOf(text)) names.add(name);
      return text;
    });
  return [...names];
}

/** Faults of the placeholders in a message, with pointers into it. */
export function templateFaults(message: BatchMessage): Fault[] {
  const faults: Fault[] = [];
  for (const field of TEMPLATE_FIELDS)
    for (const [pointer, text] of textsOf(message[field], `/${field}`)) {
      const detail = placeholderFault(text);
      if (detail !== undefined) faults.push({ pointer, code: "placeholder_invalid", detail });
    }
  return faults;
}

/** The message for one target. A placeholder without a value is kept. */
export function filledMessage(message: BatchMessage, variables: TargetVariables | undefined): BatchMessage {
  const fill = (text: string): string => fillPlaceholders(text, variables ?? {});
  const { tts, agent } = message;
  return {
    ...message,
    ...(tts !== undefined && { tts: mapTexts(tts, fill) }),
    ...(agent !== undefined && { agent: mapTexts(agent, fill) }),
  };
}

/** A copy of a JSON value with each of its texts mapped; names of fields are kept. */
function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === "string") return map(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, map)]));
}

/** The texts in a JSON value, each with its pointer. */
function* textsOf(value: unknown, pointer: string): Generator<readonly [pointer: string, text: string]> {
  if (typeof value === "string") yield [pointer, value];
  else if (typeof value === "object" && value !== null)
    for (const [key, item] of Object.entries(value)) yield* textsOf(item, `${pointer}/${escapePointer(key)}`);
}
