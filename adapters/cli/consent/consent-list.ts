import { CONSENT_STATUSES, type ConsentStatus } from "../../../src/domain/consent.ts";
import type { CommandSpec } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { jsonOption } from "../json-option.ts";
import { type Column, printRows } from "../terminal/table.ts";
import { printBeside, printJson } from "../terminal/terminal.ts";

/** `ringport consent list`: the numbers of which something is recorded. */
export const consentList: CommandSpec = {
  summary: "Lists the numbers of which it is recorded whether they may be called.",
  options: [
    { name: "status", placeholder: "STATUS", values: CONSENT_STATUSES, help: "Only those with this status." },
    jsonOption("the list"),
  ],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const status = line.values.get("status") as ConsentStatus | undefined;
    const { client } = await connect(line);
    const consents = await Array.fromAsync(client.consents.list({ status }));
    if (line.values.get("json")) printJson(consents);
    else if (consents.length === 0) printBeside("Nothing is recorded; record it: ringport consent set PHONE STATUS");
    else
      printRows(
        COLUMNS,
        consents.map(({ phone, status, source }) => [phone, status, source ?? ""]),
      );
    return 0;
  },
};

const COLUMNS: readonly Column[] = [{ head: "PHONE" }, { head: "STATUS" }, { head: "SOURCE", cut: true }];
