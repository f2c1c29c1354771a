import type { CommandSpec } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { jsonOption } from "../json-option.ts";
import { printBeside, printJson } from "../terminal/terminal.ts";

/** `ringport instance delete`: ends its call, unlinks its number. */
export const instanceDelete: CommandSpec = {
  summary: "Deletes an instance permanently: ends its call, unlinks its number.",
  operands: [{ name: "ID", completion: "instance" }],
  options: [jsonOption("`id` and `deleted`")],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const [id = ""] = line.operands;
    const { client } = await connect(line);
    await client.instances.delete(id);
    if (line.values.get("json")) printJson({ id, deleted: true });
    else printBeside(`Instance ${id} is deleted.`);
    return 0;
  },
};
