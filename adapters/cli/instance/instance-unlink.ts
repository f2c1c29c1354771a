import type { CommandSpec } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { jsonOption } from "../json-option.ts";
import { printBeside, printJson } from "../terminal/terminal.ts";

/** `ringport instance unlink`: the number goes, the instance and its calls stay. */
export const instanceUnlink: CommandSpec = {
  summary:
    "Unlinks the number of an instance: ends its call, erases its credentials. Waiting calls wait for another number.",
  operands: [{ name: "ID", completion: "instance" }],
  options: [jsonOption("the instance")],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const [id = ""] = line.operands;
    const { client } = await connect(line);
    const instance = await client.instances.unlink(id);
    if (line.values.get("json")) printJson(instance);
    else printBeside(`Instance ${id} has no number now. Link another one: ringport instance qr ${id}`);
    return 0;
  },
};
