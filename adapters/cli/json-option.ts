import type { OptionSpec } from "./command.ts";

/** Prints one JSON document instead of text, and errors as one too. */
export const JSON_OPTION: OptionSpec = { name: "json", help: "Prints JSON, errors included." };

/** Prints one JSON document a line instead of text, as things happen. */
export const JSON_LINES_OPTION: OptionSpec = { name: "json", help: "Prints JSON lines, errors as JSON." };
