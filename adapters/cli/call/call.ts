import type { CreatedCall } from "../../../src/client/index.ts";
import { MAX_QUEUE_MS } from "../../../src/domain/calls/call-input.ts";
import { PHONE_NUMBER, plainNumber } from "../../../src/domain/numbers/phone-number.ts";
import { CALLER_OPTIONS, callerIn } from "../caller-options.ts";
import type { CommandSpec, ParsedLine } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { EXIT, EXIT_CODES_HELP } from "../exit-codes.ts";
import { chosenInstance } from "../instance/chosen-instance.ts";
import { jsonOption } from "../json-option.ts";
import { interruption } from "../serve/signals.ts";
import { wholeNumber } from "../settings/parsers.ts";
import { print, printJson, printToStderr } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";
import { AUDIO_ID_OPTION, MESSAGE_OPTIONS, messageOf } from "./call-type-options.ts";
import { followCallInTerminal } from "./follow-call.ts";

/** `ringport call`: makes a phone ring and shows the call until it has ended. */
export const call: CommandSpec = {
  summary: "Places a call and shows its progress until it ends.",
  details: `Ctrl-C hangs up. ${EXIT_CODES_HELP}`,
  operands: [{ name: "+NUMBER" }],
  options: [
    ...MESSAGE_OPTIONS,
    AUDIO_ID_OPTION,
    {
      name: "instance",
      placeholder: "ID",
      help: "The calling instance, by id or name. Default: the only one.",
      completion: "instance",
    },
    ...CALLER_OPTIONS,
    {
      name: "expires-after",
      placeholder: "MS",
      help: "How long the call may wait in its queue, ms. Default: the server's queue timeout.",
    },
    { name: "record", help: "Records both sides; ask for consent first. Download: ringport calls recording ID." },
    { name: "no-wait", help: "Prints the call's id and exits; the call continues." },
    jsonOption("the finished call with its `outcome` and `events`, one document"),
  ],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const json = line.values.get("json") === true;
    const target = { phoneNumber: checkedNumber(line.operands[0] ?? "") };
    const expiresAfterMs = expiryIn(line);
    const message = await messageOf(line);
    const { client } = await connect(line);
    const instance = await chosenInstance(client, line.values.get("instance") as string | undefined);
    // From here on, there may be a call to hang up.
    const interrupted = interruption();
    const recording = line.values.get("record") === true ? true : undefined;
    const from = callerIn(line);
    const options = { recording, from, expiresAfterMs };
    const { call, isNew } = await client.calls.place({ instanceId: instance.id, target, ...message, ...options });
    if (!isNew) return reportActiveCall(call, json);
    if (line.values.get("no-wait")) {
      if (json) printJson(call);
      else {
        print(call.id);
        printToStderr(`The call is ${call.status}; follow it: ringport calls show ${call.id} --follow`);
      }
      return EXIT.done;
    }
    if (!json) {
      print(`${call.id} to ${call.target_phone} from "${instance.name}"`);
      if (instance.status !== "ACTIVE")
        printToStderr(
          `${instance.id} is ${instance.status}, so the call waits; link it: ringport instance qr ${instance.id}`,
        );
    }
    return followCallInTerminal(client, call.id, { json, interrupted, hangsUp: true });
  },
};

const EXPIRY = wholeNumber(1, MAX_QUEUE_MS);

function expiryIn({ values }: ParsedLine): number | undefined {
  const text = values.get("expires-after") as string | undefined;
  if (text === undefined) return undefined;
  const ms = EXPIRY.parse(text);
  if (ms === undefined) throw new UsageError(`--expires-after is "${text}": it must be ${EXPIRY.expected} (ms)`);
  return ms;
}

/** Checks a phone number. @throws {UsageError} the number is not E.164; the error names the fix */
export function checkedNumber(number: string): string {
  if (PHONE_NUMBER.test(number)) return number;
  const corrected = plainNumber(number);
  const example = PHONE_NUMBER.test(corrected) ? corrected : "+12025550100";
  throw new UsageError(`"${number}" is not an E.164 phone number: write +, country and number, such as ${example}`);
}

/** Reports that no call has been created because the instance has an active call. */
function reportActiveCall(active: CreatedCall, json: boolean): number {
  const { id, instance_id, status, target_phone } = active;
  const detail = `no call was placed: ${instance_id} already has an active call, ${id} to ${target_phone} (${status}); wait for it: ringport calls show ${id} --follow, or end it: ringport calls hangup ${id}`;
  printToStderr(json ? JSON.stringify({ code: "call_active_already", detail, call: active }) : `ringport: ${detail}`);
  return EXIT.occupied;
}
