import type { Command } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { jsonOption } from "../json-option.ts";
import { interruption } from "../signals.ts";
import { linkPhone } from "./link-phone.ts";

/** `ringport instance qr`: the code that links a phone, until it has. */
export const instanceQr: Command = {
  path: ["instance", "qr"],
  summary: "Draws the QR code that links a number, and waits until it is linked.",
  details: "The code is drawn again whenever it changes. Exit code: 0 linked, 130 Ctrl-C.",
  operands: [{ name: "ID", completion: "instance" }],
  options: [
    { name: "png", placeholder: "FILE", help: "Also writes the current code to this file.", completion: "file" },
    { name: "no-wait", help: "Draws the code once and exits." },
    jsonOption(
      "a line for each code (`event` code, `png_base64`, `message`, `expires_at`, `sequence`, `page`) and for the end (`event` linked, `instance`)",
    ),
  ],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const interrupted = interruption();
    const { client } = await connect(line);
    return linkPhone(client, line.operands[0] ?? "", {
      json: line.values.get("json") === true,
      png: line.values.get("png") as string | undefined,
      wait: line.values.get("no-wait") !== true,
      interrupted,
    });
  },
};
