import type { CommandSpec } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { jsonOption } from "../json-option.ts";
import { print, printJson } from "../terminal/terminal.ts";

/** `ringport consent get`: whether a number may be called. */
export const consentGet: CommandSpec = {
  summary: "Shows whether a number may be called: granted or do_not_call.",
  operands: [{ name: "PHONE" }],
  options: [jsonOption("the consent")],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const [phone = ""] = line.operands;
    const { client } = await connect(line);
    const consent = await client.consents.get(phone);
    if (line.values.get("json")) printJson(consent);
    else print(consent.status);
    return 0;
  },
};
