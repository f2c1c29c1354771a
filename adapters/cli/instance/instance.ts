import type { CallerId, Client, Instance, InstanceDetails } from "../../../src/client/index.ts";
import type { Metadata } from "../../../src/domain/instances/instance.ts";
import { CALLER_OPTIONS, callerIn } from "../caller-options.ts";
import type { Command, CommandSpec, ParsedLine } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { jsonOption } from "../json-option.ts";
import { recordCommand } from "../record-command.ts";
import { interruption } from "../serve/signals.ts";
import { printFacts } from "../terminal/facts.ts";
import { paintedStatus } from "../terminal/painted-status.ts";
import { type ListColumn, printList } from "../terminal/table.ts";
import { print, printJson, printJsonLine, printToStderr } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";
import { linkPhone } from "./link-phone.ts";

/** `--metadata`: an application's data, stored with an instance. */
const METADATA_OPTION: Command["options"][number] = {
  name: "metadata",
  placeholder: "JSON",
  help: 'A JSON object to store with it, such as \'{"branch":"Lisbon"}\'.',
};

/**
 * The object passed as `--metadata`; undefined without the option.
 * @throws {UsageError} the value is not a JSON object
 */
function metadataIn({ values }: ParsedLine): Metadata | undefined {
  const text = values.get("metadata") as string | undefined;
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Metadata;
  } catch {
    // Reported below, like any value that is not an object.
  }
  throw new UsageError(
    `--metadata is ${JSON.stringify(text.slice(0, 60))}: it must be a JSON object: {"branch":"Lisbon"}`,
  );
}

const DEFAULT_NAME = "My phone";

/** `ringport instance create`: creates an instance and prints only its id. */
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
    const name = line.operands[0] ?? DEFAULT_NAME;
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
      printToStderr(`"${instance.name}" is ${instance.status}; ${await nextStep(client, instance.id)}`);
    }
    return 0;
  },
};

/** The next step before the instance can place calls. */
async function nextStep(client: Client, id: string): Promise<string> {
  const { connection } = await client.instances.get(id, { expand: ["connection"] });
  return connection?.state === "unlinked"
    ? `link a number: ringport instance qr ${id}`
    : `${connection?.provider} links it automatically`;
}

/** `ringport instance list`: the token's instances. */
export const instanceList: CommandSpec = {
  summary: "Lists instances, newest first.",
  options: [jsonOption("the list")],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const { client } = await connect(line);
    const instances = await Array.fromAsync(client.instances.list());
    const none = "No instances yet; create one: ringport instance create NAME";
    printList(line, instances, { none, columns: COLUMNS, cells });
    return 0;
  },
};

const COLUMNS: readonly ListColumn[] = [
  { head: "ID" },
  { head: "NAME", cut: true },
  { head: "STATUS", paint: paintedStatus },
  { head: "CREATED", dropOrder: 1 },
];

function cells({ id, name, status, created_at }: Instance): string[] {
  return [id, name, status, created_at.slice(0, 19)];
}

/** `ringport instance show`: one instance, the state of its line, and its active calls. */
export const instanceShow: CommandSpec = recordCommand({
  record: "instance",
  summary: "Shows an instance, its line and its active calls.",
  json: "the instance with its `connection`",
  request: (client, id) => client.instances.get(id, { expand: ["connection"] }),
  show,
});

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

/** `ringport instance update`: changes an instance's name, metadata, or caller for later calls. */
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
    const resetsCaller = line.values.get("from-default") === true;
    if (caller !== undefined && resetsCaller)
      throw new UsageError("--from-default removes the caller: give it without --from, --from-name and --withheld");
    if (name === undefined && metadata === undefined && caller === undefined && !resetsCaller)
      throw new UsageError(
        "nothing to change: give --name, --metadata, --from, --from-name, --withheld or --from-default",
      );
    const { client } = await connect(line);
    const instance = await client.instances.update(line.operands[0] ?? "", {
      ...(name !== undefined && { name }),
      ...(metadata && { metadata }),
      ...(caller && { callerId: caller }),
      ...(resetsCaller && { callerId: null }),
    });
    if (line.values.get("json")) printJson(instance);
    else printToStderr(`Instance ${instance.id} is changed.`);
    return 0;
  },
};

/** `ringport instance delete`: deletes an instance, ends its calls and unlinks its number. */
export const instanceDelete: CommandSpec = recordCommand({
  record: "instance",
  summary: "Deletes an instance permanently: ends its call, unlinks its number.",
  json: "`id` and `deleted`",
  async request(client, id) {
    await client.instances.delete(id);
    return { id, deleted: true };
  },
  show: ({ id }) => printToStderr(`Instance ${id} is deleted.`),
});
