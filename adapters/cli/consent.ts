import { CONSENT_STATUSES, type ConsentStatus } from "../../src/domain/dialling-rules/consent.ts";
import { plainNumber } from "../../src/domain/numbers/phone-number.ts";
import { checkedNumber } from "./call/call.ts";
import type { CommandSpec, ParsedLine } from "./command.ts";
import { connect } from "./connection/connection.ts";
import { CONNECTION_SETTINGS } from "./connection/connection-settings.ts";
import { jsonOption } from "./json-option.ts";
import { type ListColumn, printList } from "./terminal/table.ts";
import { print, printJson, printToStderr } from "./terminal/terminal.ts";

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
    const phone = phoneIn(line);
    const [, status] = line.operands;
    const source = line.values.get("source") as string | undefined;
    const { client } = await connect(line);
    const consent = await client.consents.put(phone, { status: status as ConsentStatus, source });
    if (line.values.get("json")) printJson(consent);
    else printToStderr(`${phone} is recorded as ${consent.status}.`);
    return 0;
  },
};

/** `ringport consent get`: shows whether a number may be called. */
export const consentGet: CommandSpec = {
  summary: "Shows whether a number may be called: granted or do_not_call.",
  operands: [{ name: "PHONE" }],
  options: [jsonOption("the consent")],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const phone = phoneIn(line);
    const { client } = await connect(line);
    const consent = await client.consents.get(phone);
    if (line.values.get("json")) printJson(consent);
    else print(consent.status);
    return 0;
  },
};

/** `ringport consent list`: lists the numbers with a record. */
export const consentList: CommandSpec = {
  summary: "Lists the recorded consents.",
  options: [
    { name: "status", placeholder: "STATUS", values: CONSENT_STATUSES, help: "Only consents with this status." },
    jsonOption("the list"),
  ],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const status = line.values.get("status") as ConsentStatus | undefined;
    const { client } = await connect(line);
    const consents = await Array.fromAsync(client.consents.list({ status }));
    printList(line, consents, {
      none: "No consent is recorded; record one: ringport consent set PHONE STATUS",
      columns: COLUMNS,
      cells: ({ phone, status: consent, source }) => [phone, consent, source ?? ""],
    });
    return 0;
  },
};

/** The command's number, written in any form with + or 00. @throws {UsageError} */
function phoneIn({ operands: [phone = ""] }: ParsedLine): string {
  return checkedNumber(plainNumber(phone));
}

const COLUMNS: readonly ListColumn[] = [{ head: "PHONE" }, { head: "STATUS" }, { head: "SOURCE", cut: true }];

/** `ringport consent delete`: deletes the consent for a number. */
export const consentDelete: CommandSpec = {
  summary: "Deletes the consent for a number.",
  operands: [{ name: "PHONE" }],
  options: [jsonOption("`phone` and `deleted`")],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const phone = phoneIn(line);
    const { client } = await connect(line);
    await client.consents.delete(phone);
    if (line.values.get("json")) printJson({ phone, deleted: true });
    else printToStderr(`The consent for ${phone} is deleted.`);
    return 0;
  },
};
