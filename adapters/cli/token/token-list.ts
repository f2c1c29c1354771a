import process from "node:process";
import type { TokenRecord } from "../../../src/ports/storage.ts";
import type { CommandSpec } from "../command.ts";
import { jsonOption } from "../json-option.ts";
import { STORAGE_SETTINGS } from "../settings/all-settings.ts";
import { readSettings } from "../settings/read-settings.ts";
import { type ListColumn, printRows } from "../terminal/table.ts";
import { printJson, printToStderr } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";
import { withStorage } from "./storage-work.ts";
import { type ListedToken, tokenState, tokenView } from "./token-view.ts";

/** `ringport token list`: all tokens, or those of one user. */
export const tokenList: CommandSpec = {
  summary: "Lists tokens, oldest first.",
  options: [{ name: "user", placeholder: "NAME", help: "Only tokens of this user." }, jsonOption("the list")],
  settings: STORAGE_SETTINGS,
  async run(line) {
    const { options } = readSettings(STORAGE_SETTINGS, line, process.env);
    const userName = line.values.get("user") as string | undefined;
    const tokens = await withStorage(options, { mustExist: true }, async ({ accounts }) => {
      const names = new Map((await accounts.users()).map(({ id, name }) => [id, name]));
      const user = userName === undefined ? undefined : await accounts.userByName(userName.trim());
      if (userName !== undefined && !user)
        throw new UsageError(`there is no user "${userName}"; ringport token list shows the tokens of all users`);
      const records = await accounts.tokens(user?.id);
      return records.map((token) => ({ token, view: tokenView(token, names.get(token.userId) ?? token.userId) }));
    });
    if (line.values.get("json")) printJson(tokens.map(({ view }) => view));
    else if (tokens.length === 0) printToStderr("There are no tokens: ringport token create --user NAME creates one.");
    else printRows(COLUMNS, tokens.map(cells));
    return 0;
  },
};

const COLUMNS: readonly ListColumn[] = [
  { head: "ID" },
  { head: "USER", cut: true },
  { head: "NAME", cut: true },
  { head: "CREATED", dropOrder: 4 },
  { head: "EXPIRES", dropOrder: 1 },
  { head: "MAY CALL", dropOrder: 2 },
  { head: "CALLS A DAY", dropOrder: 3 },
  { head: "SCOPES", dropOrder: 2 },
  { head: "LAST USED", dropOrder: 5 },
  { head: "STATE", cut: true },
];

function cells({ token, view }: { token: TokenRecord; view: ListedToken }): string[] {
  const {
    id,
    user,
    name,
    demo_instance_id,
    created_at,
    expires_at,
    allowed_prefixes,
    max_calls_per_day,
    scopes,
    last_used_at,
  } = view;
  const state = tokenState(token, Date.now());
  const demo = demo_instance_id === null ? "" : `, demo of ${demo_instance_id}`;
  return [
    ...[id, user, name, created_at.slice(0, 19), expires_at?.slice(0, 19) ?? "never"],
    ...[allowed_prefixes?.join(",") ?? "every number", String(max_calls_per_day ?? "any number")],
    ...[scopes?.join(",") ?? "everything", last_used_at?.slice(0, 19) ?? "never", state + demo],
  ];
}
