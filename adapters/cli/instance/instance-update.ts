import { CALLER_OPTIONS, callerIn } from "../caller-options.ts";
import type { CommandSpec } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { jsonOption } from "../json-option.ts";
import { printBeside, printJson } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";
import { METADATA_OPTION, metadataIn } from "./metadata-option.ts";

/** `ringport instance update`: changes a name, metadata, or the caller of later calls. */
export const instanceUpdate: CommandSpec = {
  summary: "Changes an instance: its name, its metadata, its caller number.",
  operands: [{ name: "ID", completion: "instance" }],
  options: [
    { name: "name", placeholder: "NAME", help: "Its new name." },
    METADATA_OPTION,
    ...CALLER_OPTIONS,
    { name: "from-default", help: "Calls from the network's own number again." },
    jsonOption("the instance"),
  ],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const name = line.values.get("name") as string | undefined;
    const metadata = metadataIn(line);
    const caller = callerIn(line);
    const isDefault = line.values.get("from-default") === true;
    if (caller !== undefined && isDefault)
      throw new UsageError("--from-default removes the caller: give it without --from, --from-name and --withheld");
    if (name === undefined && metadata === undefined && caller === undefined && !isDefault)
      throw new UsageError(
        "nothing to change: give --name, --metadata, --from, --from-name, --withheld or --from-default",
      );
    const { client } = await connect(line);
    const instance = await client.instances.update(line.operands[0] ?? "", {
      ...(name !== undefined && { name }),
      ...(metadata && { metadata }),
      ...(caller && { callerId: caller }),
      ...(isDefault && { callerId: null }),
    });
    if (line.values.get("json")) printJson(instance);
    else printBeside(`Instance ${instance.id} is changed.`);
    return 0;
  },
};
