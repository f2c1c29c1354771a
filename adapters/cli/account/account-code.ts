import process from "node:process";
import { FIRST_USER } from "../../../src/application/access/tokens.ts";
import { firstCode } from "../../../src/application/accounts/one-time-codes.ts";
import type { Storage } from "../../../src/ports/storage.ts";
import type { CommandSpec } from "../command.ts";
import { jsonOption } from "../json-option.ts";
import { readSettings } from "../read-settings.ts";
import { print, printBeside, printJson } from "../terminal/terminal.ts";
import { withStorage } from "../token/storage-work.ts";
import { UsageError } from "../usage-error.ts";
import { assertConsole, CONSOLE_SETTINGS, codeMakers, codeUrl } from "./console-code.ts";

/** `ringport account code`: the address at which the administrator registers. */
export const accountCode: CommandSpec = {
  summary: "Prints the one-time address at which the administrator of the console registers.",
  details:
    "It works once, within 24 hours. A new address replaces the one before. The account takes over the user `admin` of the first token, if there is one.",
  options: [jsonOption("`url` and `expires_at`")],
  settings: CONSOLE_SETTINGS,
  async run(line) {
    const settings = readSettings(CONSOLE_SETTINGS, line, process.env);
    assertConsole(settings);
    const { made, user } = await withStorage(settings.options, { mustExist: true }, async (storage) => ({
      made: await firstCode(codeMakers(storage)),
      user: await firstUser(storage),
    }));
    if (!made)
      throw new UsageError(
        "this server has an administrator, who invites other people in the console; for a lost password: ringport account reset EMAIL",
      );
    const url = codeUrl(settings, "register", made.code);
    const expiresAt = new Date(made.expiresAt).toISOString();
    if (line.values.get("json")) {
      printJson({ url, expires_at: expiresAt });
      return 0;
    }
    print(url);
    printBeside(`Open it in your browser: until ${expiresAt} it makes the account of the administrator, once.`);
    if (user) printBeside(`The account takes over what the user "${FIRST_USER}" has: ${user}.`);
    return 0;
  },
};

/** What the user has whom the account takes over; undefined if there is no such user. */
async function firstUser({ accounts, instances }: Storage): Promise<string | undefined> {
  const user = await accounts.userByName(FIRST_USER);
  if (!user) return undefined;
  const tokens = (await accounts.tokens(user.id)).filter(({ revokedAt }) => revokedAt === null);
  const numbers = await instances.list(user.id, {});
  return `tokens: ${tokens.length}, instances: ${numbers.length}`;
}
