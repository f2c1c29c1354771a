import { CONSENT_STATUSES, type ConsentStatus } from "../../../src/domain/consent.ts";
import type { CommandSpec } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { jsonOption } from "../json-option.ts";
import { printBeside, printJson } from "../terminal/terminal.ts";

/** `ringport consent set`: records whether a number may be called. */
export const consentSet: CommandSpec = {
  summary: "Records whether a number may be called.",
  operands: [{ name: "PHONE" }, { name: "STATUS", values: CONSENT_STATUSES }],
  options: [
    { name: "source", placeholder: "TEXT", help: "How you know, such as the form that was signed." },
    jsonOption("the consent"),
  ],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const [phone = "", status] = line.operands;
    const source = line.values.get("source") as string | undefined;
    const { client } = await connect(line);
    const consent = await client.consents.put(phone, { status: status as ConsentStatus, source });
    if (line.values.get("json")) printJson(consent);
    else printBeside(`${phone} is recorded as ${consent.status}.`);
    return 0;
  },
};
