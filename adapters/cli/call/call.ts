import type { Client, CreatedCall, Instance } from "../../../src/client/index.ts";
import { CALLER_OPTIONS, callerIn } from "../caller-options.ts";
import type { CommandSpec } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { EXIT, EXIT_CODES_HELP } from "../exit-codes.ts";
import { jsonOption } from "../json-option.ts";
import { interruption } from "../serve/signals.ts";
import { print, printBeside, printJson } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";
import { MESSAGE_OPTIONS, messageOf } from "./call-type-options.ts";
import { followCallInTerminal } from "./follow-call.ts";

/** `ringport call`: makes a phone ring and shows the call until it has ended. */
export const call: CommandSpec = {
  summary: "Places a call and shows its progress until it ends.",
  details: `Ctrl-C hangs up. ${EXIT_CODES_HELP}`,
  operands: [{ name: "+NUMBER" }],
  options: [
    ...MESSAGE_OPTIONS,
    {
      name: "instance",
      placeholder: "ID",
      help: "The calling instance, by id or name. Default: the only one.",
      completion: "instance",
    },
    ...CALLER_OPTIONS,
    { name: "record", help: "Records both sides; ask for consent first. Download: ringport calls recording ID." },
    { name: "no-wait", help: "Prints the call's id and exits; the call continues." },
    jsonOption("the finished call with its `outcome` and `events`, one document"),
  ],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const json = line.values.get("json") === true;
    const target = { phoneNumber: checkedNumber(line.operands[0] ?? "") };
    const message = await messageOf(line);
    const { client } = await connect(line);
    const instance = await chosenInstance(client, line.values.get("instance") as string | undefined);
    // From here on, there may be a call to hang up.
    const interrupted = interruption();
    const recording = line.values.get("record") === true ? true : undefined;
    const from = callerIn(line);
    const { call, isNew } = await client.calls.place({ instanceId: instance.id, target, ...message, recording, from });
    if (!isNew) return reportActiveCall(call, json);
    if (line.values.get("no-wait")) {
      if (json) printJson(call);
      else {
        print(call.id);
        printBeside(`The call is ${call.status}; follow it: ringport calls show ${call.id} --follow`);
      }
      return EXIT.done;
    }
    if (!json) {
      print(`${call.id} to ${call.target_phone} from "${instance.name}"`);
      if (instance.status !== "ACTIVE")
        printBeside(
          `${instance.id} is ${instance.status}, so the call waits; link it: ringport instance qr ${instance.id}`,
        );
    }
    return followCallInTerminal(client, call.id, { json, interrupted, hangsUp: true });
  },
};

function checkedNumber(number: string): string {
  if (/^\+[1-9]\d{6,14}$/.test(number)) return number;
  const corrected = `+${number.replace(/^00/, "").replace(/\D/g, "")}`;
  const example = /^(\+|00)/.test(number) && /^\+[1-9]\d{6,14}$/.test(corrected) ? corrected : "+12025550100";
  throw new UsageError(`"${number}" is not an E.164 phone number: write +, country and number, such as ${example}`);
}

/** Reports that no call was created because the instance has an active one. */
function reportActiveCall(active: CreatedCall, json: boolean): number {
  const { id, instance_id, status, target_phone } = active;
  const detail = `no call was placed: ${instance_id} already has an active call, ${id} to ${target_phone} (${status}); wait for it: ringport calls show ${id} --follow, or end it: ringport calls hangup ${id}`;
  printBeside(json ? JSON.stringify({ code: "call_active_already", detail, call: active }) : `ringport: ${detail}`);
  return EXIT.occupied;
}

/** Maximum instances listed in an error. */
const MAX_LISTED = 5;

/**
 * The calling instance: the one with this id or name, or the only existing one.
 * @throws {UsageError} there is no instance, or more than one
 */
async function chosenInstance(client: Client, idOrName: string | undefined): Promise<Instance> {
  if (idOrName?.startsWith("inst_")) return client.instances.get(idOrName);
  const all = await Array.fromAsync(client.instances.list());
  if (all.length === 0) throw new UsageError("no instance to call from; create one: ringport instance create --link");
  const matching = idOrName === undefined ? all : all.filter(({ name }) => name === idOrName);
  const [first] = matching;
  if (first && matching.length === 1) return first;
  if (first === undefined) throw new UsageError(`unknown instance "${idOrName}"; known: ${listed(all)}`);
  const named = idOrName === undefined ? "" : ` named "${idOrName}"`;
  throw new UsageError(
    `there are ${matching.length} instances${named}: choose one with --instance ID: ${listed(matching)}`,
  );
}

function listed(instances: readonly Instance[]): string {
  const names = instances.slice(0, MAX_LISTED).map(({ id, name, status }) => `${id} ("${name}", ${status})`);
  const more = instances.length > MAX_LISTED ? ` and ${instances.length - MAX_LISTED} more` : "";
  return names.join(", ") + more;
}
