import { type Command, type OptionSpec, operandLabel } from "./command.ts";
import { CONNECTION_SETTINGS } from "./connection/connection-settings.ts";
import { SETTING_GROUPS } from "./settings/all-settings.ts";
import type { Setting } from "./settings/setting.ts";
import { table } from "./terminal/table.ts";
import { DEFAULT_COLUMNS, terminalColumns } from "./terminal/terminal.ts";
import { wrapped } from "./terminal/wrapped.ts";

/** Width of the help, columns; limited even on wide terminals. */
function helpColumns(): number {
  return Math.min(terminalColumns(), DEFAULT_COLUMNS);
}

function paragraph(text: string): string[] {
  return wrapped(text, helpColumns());
}

/** The help of one command, with a list of its subcommands. */
export function commandHelp(command: Command, subcommands: readonly Command[] = []): string {
  const { path, summary, details, operands = [], options, settings } = command;
  const usage = ["ringport", ...path, ...operands.map(operandLabel), "[options]"].join(" ");
  const ownOptions: OptionSpec[] = [...options, { name: "help", help: "Shows this help." }];
  const rows = ownOptions.map(({ name, short, placeholder, help }) => [
    `${short === undefined ? "" : `-${short}, `}--${name}${placeholder ? ` ${placeholder}` : ""}`,
    help,
  ]);
  return [
    `Usage: ${usage}`,
    "",
    ...paragraph(summary),
    ...(details ? ["", ...details.split("\n").flatMap(paragraph)] : []),
    "",
    "Options",
    ...table(rows, helpColumns()),
    ...(settings.length > 0 ? settingsHelp(settings) : []),
    ...(subcommands.length > 0 ? ["", "More commands", ...table(subcommands.map(commandRow), helpColumns())] : []),
  ].join("\n");
}

const GROUPS = { ...SETTING_GROUPS, Connection: CONNECTION_SETTINGS };

function settingsHelp(settings: readonly Setting[]): string[] {
  const groups = Object.entries(GROUPS)
    .map(([title, group]) => ({ title, rows: group.filter((setting) => settings.includes(setting)).map(settingRow) }))
    .filter(({ rows }) => rows.length > 0);
  const sections = groups.flatMap(({ title, rows }) => ["", title, ...rows.flat()]);
  const note = "Each setting is a flag or an environment variable; the flag wins. Defaults are in brackets.";
  return ["", ...paragraph(note), ...sections];
}

/** A setting's names, with its description on the next row, because a single row would be too wide. */
function settingRow({ flag, env, parser, fallback, help }: Setting): string[] {
  const placeholder = parser.placeholder ? ` ${parser.placeholder}` : "";
  const [names = "", ...continuation] = wrapped(
    `${flag === undefined ? "(variable only)" : `--${flag}${placeholder}`}, ${env}`,
    helpColumns() - 2,
  );
  const text = wrapped(`${help} [${fallback}]`, helpColumns() - INDENT.length);
  return [`  ${names}`, ...[...continuation, ...text].map((line) => INDENT + line)];
}

const INDENT = " ".repeat(6);

/** The help of `ringport` itself, or of a group of commands such as `token`. */
export function overviewHelp(commands: readonly Command[], prefix: readonly string[]): string {
  const name = ["ringport", ...prefix].join(" ");
  return [
    `Usage: ${name} <command> [options]`,
    "",
    ...(prefix.length === 0 ? ["Make a phone ring, and know what happened.", ""] : []),
    "Commands",
    ...table(commands.map(commandRow), helpColumns()),
    "",
    `Help on one command: ringport ${commands[0]?.path.join(" ") ?? ""} --help`,
    ...(prefix.length === 0 ? ["Version: ringport --version"] : []),
  ].join("\n");
}

function commandRow({ path, operands = [], summary }: Command): string[] {
  return [["ringport", ...path, ...operands.map(operandLabel)].join(" "), summary];
}
