import process from "node:process";
import { resetCode } from "../../../src/application/accounts/one-time-codes.ts";
import type { CommandSpec } from "../command.ts";
import { jsonOption } from "../json-option.ts";
import { readSettings } from "../read-settings.ts";
import { print, printBeside, printJson } from "../terminal/terminal.ts";
import { withStorage } from "../token/storage-work.ts";
import { UsageError } from "../usage-error.ts";
import { assertConsole, CONSOLE_SETTINGS, codeMakers, codeUrl } from "./console-code.ts";

/** `ringport account reset`: an address at which somebody sets a new password. */
export const accountReset: CommandSpec = {
  summary: "Prints a one-time address at which a person sets a new password.",
  details:
    "It works once, within 24 hours, and ends the sessions of the account. A new address replaces the one before.",
  operands: [{ name: "EMAIL" }],
  options: [jsonOption("`email`, `url` and `expires_at`")],
  settings: CONSOLE_SETTINGS,
  async run(line) {
    const [email = ""] = line.operands;
    const settings = readSettings(CONSOLE_SETTINGS, line, process.env);
    assertConsole(settings);
    const made = await withStorage(settings.options, { mustExist: true }, (storage) =>
      resetCode(codeMakers(storage), email),
    );
    if (!made)
      throw new UsageError(
        `there is no account with the address ${JSON.stringify(email.slice(0, 60))}; see: ringport account list`,
      );
    const url = codeUrl(settings, "reset", made.code);
    const expiresAt = new Date(made.expiresAt).toISOString();
    if (line.values.get("json")) {
      printJson({ email: made.account.email, url, expires_at: expiresAt });
      return 0;
    }
    print(url);
    printBeside(`Send it to ${made.account.email} in private: until ${expiresAt} it opens the account, once.`);
    return 0;
  },
};
