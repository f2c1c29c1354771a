import process from "node:process";
import type { CommandSpec } from "../command.ts";
import { jsonOption } from "../json-option.ts";
import { readSettings } from "../read-settings.ts";
import { STORAGE_SETTINGS } from "../settings.ts";
import { type Column, printRows } from "../terminal/table.ts";
import { printBeside, printJson } from "../terminal/terminal.ts";
import { withStorage } from "../token/storage-work.ts";

/** `ringport account list`: the people who sign in to the console. */
export const accountList: CommandSpec = {
  summary: "Lists the accounts of the console, oldest first.",
  options: [jsonOption("the list")],
  settings: STORAGE_SETTINGS,
  async run(line) {
    const { options } = readSettings(STORAGE_SETTINGS, line, process.env);
    const accounts = await withStorage(options, { mustExist: true }, ({ logins }) => logins.accounts());
    const views = accounts.map(({ id, email, role, userId, createdAt }) => ({
      id,
      email,
      role,
      user_id: userId,
      created_at: new Date(createdAt).toISOString(),
    }));
    if (line.values.get("json")) printJson(views);
    else if (views.length === 0)
      printBeside("There are no accounts: ringport account code prints the address for the first one.");
    else
      printRows(
        COLUMNS,
        views.map((view) => [view.id, view.email, view.role, view.user_id, view.created_at.slice(0, 19)]),
      );
    return 0;
  },
};

const COLUMNS: readonly Column[] = [
  { head: "ID", leftOut: 2 },
  { head: "EMAIL", cut: true },
  { head: "ROLE" },
  { head: "USER", leftOut: 1 },
  { head: "CREATED", leftOut: 3 },
];
