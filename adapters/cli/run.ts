import { didYouMean } from "../../src/base/nearest.ts";
import { VERSION } from "../../src/version.ts";
import type { Command } from "./command.ts";
import { parseCommandLine } from "./command-line.ts";
import { COMMANDS } from "./commands.ts";
import { COMPLETE, complete } from "./completion/complete.ts";
import { explain } from "./explain.ts";
import { commandHelp, overviewHelp } from "./help.ts";
import { flushed, print, tolerateBrokenPipes } from "./terminal/terminal.ts";
import { UsageError } from "./usage-error.ts";

/**
 * Runs a command line. Answers the exit code: 0 done, 1 it went wrong, 2 something to be put right by the person at the
 * terminal.
 */
export async function run(args: readonly string[]): Promise<number> {
  tolerateBrokenPipes();
  try {
    return await dispatch(args);
  } catch (error) {
    return explain(error, { json: args.includes("--json") });
  } finally {
    await flushed();
  }
}

async function dispatch(args: readonly string[]): Promise<number> {
  if (args[0] === "--version" || args[0] === "-v") {
    print(VERSION);
    return 0;
  }
  if (args[0] === COMPLETE) return complete(COMMANDS, args.slice(1));
  const words = args[0] === "help" ? args.slice(1) : args;
  const typed = words.slice(0, words.findIndex((word) => word.startsWith("-")) >>> 0);
  const command = commandOf(typed);
  if (!command) return overview(typed, words[typed.length]);
  const line = parseCommandLine(command, args[0] === "help" ? ["--help"] : args.slice(command.path.length));
  if (line.values.get("help") === true) {
    print(
      commandHelp(
        command,
        below(command.path).filter((other) => other !== command),
      ),
    );
    return 0;
  }
  return command.run(line);
}

/** The command with the longest name that was typed: `calls show` before `calls`. */
function commandOf(typed: readonly string[]): Command | undefined {
  const named = COMMANDS.filter(({ path }) => path.every((word, i) => typed[i] === word));
  return named.sort((a, b) => b.path.length - a.path.length)[0];
}

function below(prefix: readonly string[]): Command[] {
  return COMMANDS.filter(({ path }) => prefix.every((word, i) => path[i] === word));
}

/** Help for `ringport` and for groups of commands; anything else is unknown. */
function overview(typed: readonly string[], option: string | undefined): number {
  if (option !== undefined && option !== "--help" && option !== "-h")
    throw new UsageError(`"${option}" must follow the command: ringport COMMAND ${option}`);
  const group = below(typed);
  if (group.length > 0) {
    print(overviewHelp(group, typed));
    return 0;
  }
  const names = COMMANDS.map(({ path }) => path.join(" "));
  const isGroup = COMMANDS.some(({ path }) => path.length > 1 && path[0] === typed[0]);
  const name = typed.slice(0, isGroup ? 2 : 1).join(" ");
  throw new UsageError(`unknown command "${name}"${didYouMean(name, names)}; see: ringport --help`);
}
