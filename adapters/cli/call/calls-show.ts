import type { CallEvent, CallWith } from "../../../src/client/index.ts";
import type { CommandSpec } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { EXIT_CODES_HELP } from "../exit-codes.ts";
import { jsonOption } from "../json-option.ts";
import { interruption } from "../signals.ts";
import { printFacts } from "../terminal/facts.ts";
import { print, printJson } from "../terminal/terminal.ts";
import { followCall } from "./follow-call.ts";
import { outcomeLines } from "./outcome-lines.ts";
import { eventLine } from "./timeline.ts";

/** `ringport calls show`: one call and its timeline. */
export const callsShow: CommandSpec = {
  summary: "Shows a call, its timeline and its outcome.",
  details: `The exit code is 0 if the call was found. With --follow it is that of the call. ${EXIT_CODES_HELP}`,
  operands: [{ name: "ID", completion: "call" }],
  options: [
    { name: "follow", help: "Follows the call until it ends; Ctrl-C stops following, not the call." },
    jsonOption("the call with its `outcome`, `media` and `events`"),
  ],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const [id = ""] = line.operands;
    const json = line.values.get("json") === true;
    const { client } = await connect(line);
    if (line.values.get("follow")) return followCall(client, id, { json, interrupted: interruption(), hangsUp: false });
    const call = await client.calls.get(id, { expand: ["outcome", "media"] });
    const events = await client.calls.events(id);
    if (json) printJson({ ...call, events });
    else show(call, events);
    return 0;
  },
};

function show(call: CallWith<"outcome" | "media">, events: readonly CallEvent[]): void {
  const { id, status, outcome, target_phone, type, instance_id, media } = call;
  print(`${id} is ${status}`);
  printFacts([
    ["to", target_phone],
    ["type", type],
    ["instance", instance_id],
    ...Object.entries(media ?? {}).map(([name, value]) => [name.replaceAll("_", " "), value] as const),
    ["created", call.created_at],
    ["started", call.started_at],
    ["ended", call.ended_at],
  ]);
  print();
  const began = Date.parse(events[0]?.timestamp ?? call.created_at);
  for (const event of events) print(eventLine(event, began));
  if (!outcome || (status !== "COMPLETED" && status !== "FAILED")) return;
  print();
  for (const text of outcomeLines({ ...call, status, outcome })) print(text);
}
