import process from "node:process";
import { firstCode } from "../../../src/application/accounts/one-time-codes.ts";
import type { Command } from "../command.ts";
import { jsonOption } from "../json-option.ts";
import { readSettings } from "../read-settings.ts";
import { print, printBeside, printJson } from "../terminal/terminal.ts";
import { withStorage } from "../token/storage-work.ts";
import { UsageError } from "../usage-error.ts";
import { CONSOLE_SETTINGS, codeMakers, codeUrl } from "./console-code.ts";

/** `ringport account code`: the address at which the administrator registers. */
export const accountCode: Command = {
  path: ["account", "code"],
  summary: "Prints the one-time address at which the administrator of the console registers.",
  details:
    "It works once, within 24 hours. A new address replaces the one before. The account takes over the user of the first token.",
  options: [jsonOption("`url` and `expires_at`")],
  settings: CONSOLE_SETTINGS,
  async run(line) {
    const settings = readSettings(CONSOLE_SETTINGS, line, process.env);
    const made = await withStorage(settings.options, { mustExist: false }, (storage) => firstCode(codeMakers(storage)));
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
    return 0;
  },
};
