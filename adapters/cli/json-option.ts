import type { OptionSpec } from "./command.ts";

/** Prints JSON instead of text, and errors as one JSON document. @param content name of the printed data */
export function jsonOption(content: string): OptionSpec {
  return { name: "json", help: `Prints JSON: ${content}; errors too.` };
}
