import type { CallerId, InstanceDetails } from "../../../src/client/index.ts";
import type { CommandSpec } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { jsonOption } from "../json-option.ts";
import { printFacts } from "../terminal/facts.ts";
import { print, printJson } from "../terminal/terminal.ts";

/** `ringport instance show`: one instance, how its line is doing and what it is calling. */
export const instanceShow: CommandSpec = {
  summary: "Shows an instance, its line and its active calls.",
  operands: [{ name: "ID", completion: "instance" }],
  options: [jsonOption("the instance with its `connection`")],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const { client } = await connect(line);
    const instance = await client.instances.get(line.operands[0] ?? "", { expand: ["connection"] });
    if (line.values.get("json")) printJson(instance);
    else show(instance);
    return 0;
  },
};

function show({ id, name, status, metadata, callerId, created_at, connection, callQueue }: InstanceDetails): void {
  print(`${id} is ${status}`);
  printFacts([
    ["name", name],
    ["phone", connection?.phone],
    ["calls from", callerId && shownCaller(callerId)],
    ["line", connection?.state],
    ["reason", connection?.reason],
    ["last seen", connection?.last_seen_at],
    ["paused", connection?.paused_until && `until ${connection.paused_until}: ${connection.pause_reason}`],
    ["provider", connection?.provider],
    ["metadata", Object.keys(metadata).length > 0 ? JSON.stringify(metadata) : null],
    ["created", created_at],
    ...callQueue.map((call) => ["call", `${call.id} ${call.status} to ${call.target_phone}`] as const),
    ["next", status === "CREATED" ? `ringport instance qr ${id}` : null],
  ]);
}

function shownCaller({ phoneNumber, displayName, withheld }: CallerId): string {
  return [displayName && `"${displayName}"`, phoneNumber, withheld && "(withheld)"].filter(Boolean).join(" ");
}
