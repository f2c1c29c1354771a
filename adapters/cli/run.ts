import { didYouMean } from "../../src/base/nearest.ts";
import { VERSION } from "../../src/version.ts";
import { COMMANDS, commandOf, commandsBelow, loadAll } from "./all-commands.ts";
import { BENCH_JOB } from "./bench/bench-job.ts";
import { parseCommandLine } from "./command-line.ts";
import { COMPLETE } from "./completion/completion.ts";
import { explain } from "./print-error.ts";
import { flushOutput, print, tolerateBrokenPipes } from "./terminal/terminal.ts";
import { UsageError } from "./usage-error.ts";

/** Runs a command line. Returns the exit code: 0 success, 1 failure, 2 a mistake that the user can fix. */
export async function run(args: readonly string[]): Promise<number> {
  tolerateBrokenPipes();
  try {
    return await dispatch(args);
  } catch (error) {
    return explain(error, { json: args.includes("--json") });
  } finally {
    await flushOutput();
  }
}

async function dispatch(args: readonly string[]): Promise<number> {
  if (args[0] === "--version" || args[0] === "-v") {
    print(VERSION);
    return 0;
  }
  if (args[0] === COMPLETE) {
    const { complete } = await import("./completion/complete.ts");
    return complete(args.slice(1));
  }
  if (args[0] === BENCH_JOB) {
    const { runJob } = await import("./bench/run-job.ts");
    return runJob(args[1] ?? "");
  }
  const words = args[0] === "help" ? args.slice(1) : args;
  const names = words.slice(0, words.findIndex((word) => word.startsWith("-")) >>> 0);
  const command = await commandOf(names)?.load();
  if (!command) return overview(names, words[names.length]);
  const line = parseCommandLine(command, args[0] === "help" ? ["--help"] : args.slice(command.path.length));
  if (line.values.get("help") === true) {
    const { commandHelp } = await import("./help.ts");
    print(commandHelp(command, await loadAll(commandsBelow(command.path).filter(({ path }) => path !== command.path))));
    return 0;
  }
  try {
    return await command.run(line);
  } catch (error) {
    return explain(error, { json: args.includes("--json"), typedCommand: { command, line } });
  }
}

/** Prints help for `ringport` or for a group of commands. @throws {UsageError} other words */
async function overview(words: readonly string[], option: string | undefined): Promise<number> {
  if (option !== undefined && option !== "--help" && option !== "-h")
    throw new UsageError(`"${option}" must follow the command: ringport COMMAND ${option}`);
  const group = commandsBelow(words);
  if (group.length > 0) {
    const { overviewHelp } = await import("./help.ts");
    print(overviewHelp(await loadAll(group), words));
    return 0;
  }
  const names = COMMANDS.map(({ path }) => path.join(" "));
  const isGroup = COMMANDS.some(({ path }) => path.length > 1 && path[0] === words[0]);
  const name = words.slice(0, isGroup ? 2 : 1).join(" ");
  throw new UsageError(`unknown command "${name}"${didYouMean(name, names)}; see: ringport --help`);
}
