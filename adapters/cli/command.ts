import type { Setting } from "./setting.ts";

/** An option of one command. */
export interface OptionSpec {
  /** Without its dashes. */
  readonly name: string;
  /** For help; undefined for a switch. */
  readonly placeholder?: string | undefined;
  readonly help: string;
}

/** What was typed after a command's name, checked against its specification. */
export interface ParsedLine {
  /** By option name; true for a switch that is on. */
  readonly values: ReadonlyMap<string, string | boolean>;
  readonly operands: readonly string[];
}

/** One command; `path` is how it is called. */
export interface Command {
  readonly path: readonly string[];
  readonly summary: string;
  /** More for `--help`. */
  readonly details?: string;
  /** What must follow, in order: `["ID"]`. */
  readonly operands?: readonly string[];
  readonly options: readonly OptionSpec[];
  /** Settings that the command looks at, as flags and as environment variables. */
  readonly settings: readonly Setting[];
  /** Answers the exit code. @throws {UsageError} for what the person can put right */
  run(line: ParsedLine): Promise<number>;
}
