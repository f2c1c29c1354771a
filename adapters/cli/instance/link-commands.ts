import type { Client } from "../../../src/client/index.ts";
import type { CommandSpec } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { jsonOption } from "../json-option.ts";
import { recordCommand } from "../record-command.ts";
import { interruption } from "../serve/signals.ts";
import { print, printJson, printToStderr } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";
import { linkPhone } from "./link-phone.ts";

/** `ringport instance qr`: shows the linking code until a phone is linked. */
export const instanceQr: CommandSpec = {
  summary: "Draws the QR code that links a number, and waits until it is linked.",
  details: "The code is drawn again whenever it changes. Exit code: 0 linked, 130 Ctrl-C.",
  operands: [{ name: "ID", completion: "instance" }],
  options: [
    { name: "png", placeholder: "FILE", help: "Also writes the current code to this file.", completion: "file" },
    { name: "no-wait", help: "Draws the code once and exits." },
    {
      name: "page",
      help: "Prints the address of a page with the code instead, to send to the person who holds the phone.",
    },
    jsonOption(
      "a line for each code (`event` code, `png_base64`, `message`, `expires_at`, `sequence`, `page`) and for the end (`event` linked, `instance`); with --page `url` and `expires_at`",
    ),
  ],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const [id = ""] = line.operands;
    if (line.values.get("page") === true) {
      const conflict = ["png", "no-wait"].find((name) => line.values.has(name));
      if (conflict !== undefined) throw new UsageError(`--page draws no code: leave out --${conflict}`);
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
  printToStderr(
    `Anyone with this address can link a phone to the instance, until ${page.expires_at.slice(11, 16)} UTC.`,
  );
  return 0;
}

/** `ringport instance link`: links a number; on the simulated network, without a phone. */
export const instanceLink: CommandSpec = {
  summary: "Links a number: scans the code itself on the simulated network, shows it on others.",
  details:
    "On the simulated network it presses the button on the page behind the code. On other networks it draws the code and " +
    "waits, as instance qr does. Exit code: 0 linked, 130 Ctrl-C.",
  operands: [{ name: "ID", completion: "instance" }],
  options: [jsonOption("a line for each code to be scanned, then one when it is linked (`event` linked, `instance`)")],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const interrupted = interruption();
    const { client } = await connect(line);
    const json = line.values.get("json") === true;
    return linkPhone(client, line.operands[0] ?? "", { json, scansAutomatically: true, interrupted });
  },
};

/** `ringport instance pair`: prints only the code that is to be typed on the phone. */
export const instancePair: CommandSpec = {
  summary: "Prints a code that links a number when it is typed on the phone, if the network has such codes.",
  operands: [{ name: "ID", completion: "instance" }, { name: "PHONE" }],
  options: [jsonOption("`instanceId`, `pairingCode`, `expires_at` and `message`")],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const [id = "", phone = ""] = line.operands;
    const { client } = await connect(line);
    const pairing = await client.instances.pairingCode(id, { phone });
    if (line.values.get("json")) {
      printJson(pairing);
      return 0;
    }
    print(pairing.pairingCode);
    printToStderr(pairing.message);
    printToStderr(`It expires at ${pairing.expires_at.slice(11, 19)} UTC.`);
    return 0;
  },
};

/** `ringport instance unlink`: removes the number; the instance and its calls stay. */
export const instanceUnlink: CommandSpec = recordCommand({
  record: "instance",
  summary:
    "Unlinks the number of an instance: ends its call, erases its credentials. Waiting calls wait for another number.",
  json: "the instance",
  request: (client, id) => client.instances.unlink(id),
  show: (_, id) => printToStderr(`Instance ${id} has no number now. Link another one: ringport instance qr ${id}`),
});
