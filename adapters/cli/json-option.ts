import type { OptionSpec } from "./command.ts";

/** Prints JSON instead of text, and errors as one JSON document. @param what name of the printed data */
export function jsonOption(what: string): OptionSpec {
  return { name: "json", help: `Prints JSON: ${what}; errors too.` };
}
