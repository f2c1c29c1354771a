import type { CommandSpec } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { jsonOption } from "../json-option.ts";
import { printBeside, printJson } from "../terminal/terminal.ts";

/** `ringport consent delete`: forgets whether a number may be called. */
export const consentDelete: CommandSpec = {
  summary: "Forgets whether a number may be called.",
  operands: [{ name: "PHONE" }],
  options: [jsonOption("`phone` and `deleted`")],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const [phone = ""] = line.operands;
    const { client } = await connect(line);
    await client.consents.delete(phone);
    if (line.values.get("json")) printJson({ phone, deleted: true });
    else printBeside(`Nothing is recorded about ${phone} any more.`);
    return 0;
  },
};
