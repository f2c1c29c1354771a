import type { CommandSpec } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { jsonOption } from "../json-option.ts";
import { print, printBeside, printJson } from "../terminal/terminal.ts";

/** `ringport instance pair`: the code to type on the phone, alone on the output. */
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
    printBeside(pairing.message);
    printBeside(`It expires at ${pairing.expires_at.slice(11, 19)} UTC.`);
    return 0;
  },
};
