import type { CommandSpec } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { jsonOption } from "../json-option.ts";
import { interruption } from "../signals.ts";
import { linkPhone } from "./link-phone.ts";

/** `ringport instance link`: links a number; on the simulated network without a phone. */
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
    return linkPhone(client, line.operands[0] ?? "", { json, scans: true, interrupted });
  },
};
