import type { Setting } from "./settings/setting.ts";

/** Source of completions, on a running server or on this machine. */
export type Completion = "instance" | "call" | "batch" | "audio" | "voice" | "model" | "installed-model" | "file";

/** Specification of a word. */
interface WordSpec {
  /** The allowed words. Matching ignores case, and the command gets the spelling given here. */
  readonly values?: readonly string[] | undefined;
  readonly completion?: Completion | undefined;
}

/** An option of one command. */
export interface OptionSpec extends WordSpec {
  /** Name of the option, without its dashes. */
  readonly name: string;
  /** One letter for the same option, without its dash. */
  readonly short?: string;
  /** Placeholder for the value in the help; undefined for a switch. */
  readonly placeholder?: string | undefined;
  readonly help: string;
}

/** A word that follows a command's name. */
export interface OperandSpec extends WordSpec {
  /** Name of the operand in the help. */
  readonly name: string;
  readonly optional?: boolean;
  /** True if it may be repeated; only for the last operand. */
  readonly isRepeatable?: boolean;
}

/** Words after a command's name, checked against its specification. */
export interface ParsedLine {
  /** Values by option name; true for a switch that is on. */
  readonly values: ReadonlyMap<string, string | boolean>;
  readonly operands: readonly string[];
}

/** Specification of a command; its name is in the table of commands. */
export interface CommandSpec {
  readonly summary: string;
  /** Further details for `--help`. */
  readonly details?: string;
  /** Operands, in order; optional ones come last. */
  readonly operands?: readonly OperandSpec[];
  readonly options: readonly OptionSpec[];
  /** Settings that the command uses, as flags and as environment variables. */
  readonly settings: readonly Setting[];
  /** Returns the exit code. @throws {UsageError} for mistakes that the user can fix */
  run(line: ParsedLine): Promise<number>;
}

/** One command; `path` is its name on the command line. */
export interface Command extends CommandSpec {
  readonly path: readonly string[];
}

/** An operand as shown in the help. */
export function operandLabel({ name, optional, isRepeatable }: OperandSpec): string {
  const label = isRepeatable ? `${name}…` : name;
  return optional ? `[${label}]` : label;
}
