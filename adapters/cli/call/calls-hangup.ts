import type { CommandSpec } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { jsonOption } from "../json-option.ts";
import { printBeside, printJson } from "../terminal/terminal.ts";

/** `ringport calls hangup`: ends an active call. */
export const callsHangup: CommandSpec = {
  summary: "Hangs up an active call.",
  operands: [{ name: "ID", completion: "call" }],
  options: [jsonOption("the call with its `outcome`")],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const [id = ""] = line.operands;
    const { client } = await connect(line);
    await client.calls.hangUp(id);
    const call = await client.calls.get(id, { expand: ["outcome"] });
    if (line.values.get("json")) printJson(call);
    else printBeside(`Call ${id} is ${call.status}${call.outcome ? `: ${call.outcome.reason}` : ""}.`);
    return 0;
  },
};
