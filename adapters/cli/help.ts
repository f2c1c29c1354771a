import type { Command } from "./command.ts";
import type { Setting } from "./setting.ts";
import { SETTING_GROUPS } from "./settings.ts";

/** The help of one command. */
export function commandHelp(command: Command): string {
  const { path, summary, details, operands = [], options, settings } = command;
  const usage = ["ringport", ...path, ...operands, "[options]"].join(" ");
  const own = [...options, { name: "help", help: "Shows this." }];
  const rows = own.map(({ name, placeholder, help }) => [`--${name}${placeholder ? ` ${placeholder}` : ""}`, help]);
  return [
    `Usage: ${usage}`,
    "",
    summary,
    ...(details ? ["", details] : []),
    "",
    "Options",
    ...table(rows),
    ...(settings.length > 0 ? settingsHelp(settings) : []),
  ].join("\n");
}

function settingsHelp(settings: readonly Setting[]): string[] {
  const groups = Object.entries(SETTING_GROUPS)
    .map(([title, group]) => ({ title, rows: group.filter((one) => settings.includes(one)).map(settingRow) }))
    .filter(({ rows }) => rows.length > 0);
  // One table, so that the columns of all groups are below each other.
  const lines = table(groups.flatMap(({ rows }) => rows));
  const shown = groups.flatMap(({ title, rows }) => ["", title, ...lines.splice(0, rows.length)]);
  return ["", "Each setting is a flag or an environment variable; the flag wins. Defaults are in brackets.", ...shown];
}

function settingRow({ flag, env, parser, fallback, help }: Setting): string[] {
  const placeholder = parser.placeholder ? ` ${parser.placeholder}` : "";
  return [flag === undefined ? "(variable only)" : `--${flag}${placeholder}`, env, `${help} [${fallback}]`];
}

/** Rows as lines, indented by two, with columns below each other. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const width = (column: number): number => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  const widths = (rows[0] ?? []).map((_, column) => width(column));
  return rows.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd());
}

/** The help of `ringport` itself, or of a group of commands such as `token`. */
export function overviewHelp(commands: readonly Command[], prefix: readonly string[]): string {
  const name = ["ringport", ...prefix].join(" ");
  const rows = commands.map(({ path, operands = [], summary }) => [
    ["ringport", ...path, ...operands].join(" "),
    summary,
  ]);
  return [
    `Usage: ${name} <command> [options]`,
    "",
    ...(prefix.length === 0 ? ["Makes a phone ring from TypeScript, and knows what happened.", ""] : []),
    "Commands",
    ...table(rows),
    "",
    `More about one of them: ringport ${commands[0]?.path.join(" ") ?? ""} --help`,
    ...(prefix.length === 0 ? ["The version: ringport --version"] : []),
  ].join("\n");
}
