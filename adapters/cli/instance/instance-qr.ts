import type { Client } from "../../../src/client/index.ts";
import type { CommandSpec } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { jsonOption } from "../json-option.ts";
import { interruption } from "../signals.ts";
import { print, printBeside, printJson } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";
import { linkPhone } from "./link-phone.ts";

/** `ringport instance qr`: the code that links a phone, until it has. */
export const instanceQr: CommandSpec = {
  summary: "Draws the QR code that links a number, and waits until it is linked.",
  details: "The code is drawn again whenever it changes. Exit code: 0 linked, 130 Ctrl-C.",
  operands: [{ name: "ID", completion: "instance" }],
  options: [
    { name: "png", placeholder: "FILE", help: "Also writes the current code to this file.", completion: "file" },
    { name: "no-wait", help: "Draws the code once and exits." },
    { name: "page", help: "Prints the address of a page with the code instead, to send to whoever holds the phone." },
    jsonOption(
      "a line for each code (`event` code, `png_base64`, `message`, `expires_at`, `sequence`, `page`) and for the end (`event` linked, `instance`); with --page `url` and `expires_at`",
    ),
  ],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const [id = ""] = line.operands;
    if (line.values.get("page") === true) {
      const other = ["png", "no-wait"].find((name) => line.values.has(name));
      if (other !== undefined) throw new UsageError(`--page draws no code: leave out --${other}`);
      return printLinkPage((await connect(line)).client, id, line.values.get("json") === true);
    }
    const interrupted = interruption();
    const { client } = await connect(line);
    return linkPhone(client, id, {
      json: line.values.get("json") === true,
      png: line.values.get("png") as string | undefined,
      wait: line.values.get("no-wait") !== true,
      interrupted,
    });
  },
};

async function printLinkPage(client: Client, id: string, json: boolean): Promise<number> {
  const page = await client.instances.linkPage(id);
  if (json) {
    printJson(page);
    return 0;
  }
  print(page.url);
  printBeside(`Whoever has this address can link a phone to the instance, until ${page.expires_at.slice(11, 16)} UTC.`);
  return 0;
}
