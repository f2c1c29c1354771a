#!/usr/bin/env node
import process from "node:process";
import { Refusal } from "../../src/domain/refusal.ts";
import { VERSION } from "../../src/version.ts";
import type { Command } from "./command.ts";
import { parseCommandLine } from "./command-line.ts";
import { demo } from "./demo.ts";
import { commandHelp, overviewHelp } from "./help.ts";
import { didYouMean } from "./nearest.ts";
import { serve } from "./serve.ts";
import { print, printBeside, tolerateBrokenPipes } from "./terminal.ts";
import { tokenCreate } from "./token-create.ts";
import { tokenList } from "./token-list.ts";
import { tokenRevoke } from "./token-revoke.ts";
import { UsageError } from "./usage-error.ts";

const COMMANDS: readonly Command[] = [serve, demo, tokenCreate, tokenList, tokenRevoke];

tolerateBrokenPipes();
process.exit(await main(process.argv.slice(2)));

/** Answers the exit code: 0 done, 1 it went wrong, 2 something to be put right by the person at the terminal. */
async function main(args: readonly string[]): Promise<number> {
  try {
    return await dispatch(args);
  } catch (error) {
    return explain(error);
  }
}

async function dispatch(args: readonly string[]): Promise<number> {
  if (args[0] === "--version" || args[0] === "-v") {
    print(VERSION);
    return 0;
  }
  const words = args[0] === "help" ? args.slice(1) : args;
  const typed = words.slice(0, words.findIndex((word) => word.startsWith("-")) >>> 0);
  const command = COMMANDS.find(({ path }) => path.every((word, i) => typed[i] === word));
  if (!command) return overview(typed, words[typed.length]);
  const line = parseCommandLine(command, args[0] === "help" ? ["--help"] : args.slice(command.path.length));
  if (line.values.get("help") === true) {
    print(commandHelp(command));
    return 0;
  }
  return command.run(line);
}

/** Help for `ringport` and for groups of commands; anything else is unknown. */
function overview(typed: readonly string[], option: string | undefined): number {
  if (option !== undefined && option !== "--help" && option !== "-h")
    throw new UsageError(`"${option}" comes before the command; write it behind: ringport serve ${option}`);
  const below = COMMANDS.filter(({ path }) => typed.every((word, i) => path[i] === word));
  if (below.length > 0) {
    print(overviewHelp(below, typed));
    return 0;
  }
  const names = COMMANDS.map(({ path }) => path.join(" "));
  const group = COMMANDS.some(({ path }) => path.length > 1 && path[0] === typed[0]);
  const name = typed.slice(0, group ? 2 : 1).join(" ");
  throw new UsageError(`there is no command "${name}"${didYouMean(name, names)}; see: ringport --help`);
}

/** One line for a person; the whole story with LOG_LEVEL=debug. */
function explain(error: unknown): number {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  printBeside(`ringport: ${message.replace(/\s*\n\s*/g, " ")}`);
  if (process.env.LOG_LEVEL === "debug" && !(error instanceof UsageError)) printBeside(stack ?? "");
  if (error instanceof Refusal) return 2;
  return isMistakeOfOurs(error) ? 1 : 2;
}

function isMistakeOfOurs(error: unknown): boolean {
  return error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;
}
