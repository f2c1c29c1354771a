import type { Client } from "../../../src/client/index.ts";
import { CALLER_OPTIONS, callerIn } from "../caller-options.ts";
import type { CommandSpec } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { jsonOption } from "../json-option.ts";
import { interruption } from "../signals.ts";
import { print, printBeside, printJson, printJsonLine } from "../terminal/terminal.ts";
import { linkPhone } from "./link-phone.ts";
import { METADATA_OPTION, metadataIn } from "./metadata-option.ts";

const NAME = "My phone";

/** `ringport instance create`: a new instance, its id alone on the output. */
export const instanceCreate: CommandSpec = {
  summary: "Creates an instance: a phone number to link.",
  details: "Prints only the id, for scripts: ID=$(ringport instance create Reception)",
  operands: [{ name: "NAME", optional: true }],
  options: [
    METADATA_OPTION,
    {
      name: "provider",
      placeholder: "NAME",
      help: "The network that carries its calls, such as sip/acme. Default: the server's first one.",
    },
    ...CALLER_OPTIONS,
    { name: "link", help: "Shows the QR code, and waits until the number is linked." },
    jsonOption("the instance; with --link the lines of `instance qr`"),
  ],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const metadata = metadataIn(line);
    const callerId = callerIn(line);
    const link = line.values.get("link") === true;
    const json = line.values.get("json") === true;
    const provider = line.values.get("provider") as string | undefined;
    const { client } = await connect(line);
    const name = line.operands[0] ?? NAME;
    const instance = await client.instances.create({
      name,
      ...(metadata && { metadata }),
      ...(provider && { provider }),
      ...(callerId && { callerId }),
    });
    if (link) {
      if (json) printJsonLine({ event: "created", instance });
      else print(instance.id);
      return linkPhone(client, instance.id, { json, interrupted: interruption() });
    }
    if (json) printJson(instance);
    else {
      print(instance.id);
      printBeside(`"${instance.name}" is ${instance.status}; ${await nextStep(client, instance.id)}`);
    }
    return 0;
  },
};

/** The next step before the instance can call; undefined if its network links it by itself. */
async function nextStep(client: Client, id: string): Promise<string> {
  const { connection } = await client.instances.get(id, { expand: ["connection"] });
  return connection?.state === "unlinked"
    ? `link a number: ringport instance qr ${id}`
    : `${connection?.provider} links it by itself`;
}
