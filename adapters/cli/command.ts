import type { Setting } from "./setting.ts";

/** What of a running server, or of this machine, completes a word. */
export type Completion = "instance" | "call" | "voice" | "file";

/** What a word may be. */
interface WordSpec {
  /** The only words there are; however they are written, the command gets them as they are here. */
  readonly values?: readonly string[] | undefined;
  readonly completion?: Completion | undefined;
}

/** An option of one command. */
export interface OptionSpec extends WordSpec {
  /** Without its dashes. */
  readonly name: string;
  /** For help; undefined for a switch. */
  readonly placeholder?: string | undefined;
  readonly help: string;
}

/** A word that follows a command's name. */
export interface OperandSpec extends WordSpec {
  /** For help. */
  readonly name: string;
  readonly optional?: boolean;
}

/** What was typed after a command's name, checked against its specification. */
export interface ParsedLine {
  /** By option name; true for a switch that is on. */
  readonly values: ReadonlyMap<string, string | boolean>;
  readonly operands: readonly string[];
}

/** What a command is and does; its name is in the table of commands. */
export interface CommandSpec {
  readonly summary: string;
  /** More for `--help`. */
  readonly details?: string;
  /** What follows, in order; optional ones come last. */
  readonly operands?: readonly OperandSpec[];
  readonly options: readonly OptionSpec[];
  /** Settings that the command looks at, as flags and as environment variables. */
  readonly settings: readonly Setting[];
  /** Returns the exit code. @throws {UsageError} for what the user can fix */
  run(line: ParsedLine): Promise<number>;
}

/** One command; `path` is how it is called. */
export interface Command extends CommandSpec {
  readonly path: readonly string[];
}

/** An operand as help writes it. */
export function operandLabel({ name, optional }: OperandSpec): string {
  return optional ? `[${name}]` : name;
}
