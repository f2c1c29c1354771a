import type { Instance } from "../../../src/client/index.ts";
import type { CommandSpec } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { jsonOption } from "../json-option.ts";
import { paintedStatus } from "../terminal/painted-status.ts";
import { type Column, printRows } from "../terminal/table.ts";
import { printBeside, printJson } from "../terminal/terminal.ts";

/** `ringport instance list`: the token's instances. */
export const instanceList: CommandSpec = {
  summary: "Lists instances, newest first.",
  options: [jsonOption("the list")],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const { client } = await connect(line);
    const instances = await Array.fromAsync(client.instances.list());
    if (line.values.get("json")) printJson(instances);
    else if (instances.length === 0) printBeside("No instances yet; create one: ringport instance create NAME");
    else printRows(COLUMNS, instances.map(cells));
    return 0;
  },
};

const COLUMNS: readonly Column[] = [
  { head: "ID" },
  { head: "NAME", cut: true },
  { head: "STATUS", paint: paintedStatus },
  { head: "CREATED", leftOut: 1 },
];

function cells({ id, name, status, created_at }: Instance): string[] {
  return [id, name, status, created_at.slice(0, 19)];
}
