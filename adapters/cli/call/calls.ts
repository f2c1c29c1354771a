import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { CallEvent, CallWith, ListCallsQuery } from "../../../src/client/index.ts";
import { CALL_STATUSES, type CallStatus } from "../../../src/domain/calls/call.ts";
import type { CommandSpec, ParsedLine } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { EXIT, EXIT_CODES_HELP } from "../exit-codes.ts";
import { jsonOption } from "../json-option.ts";
import { recordCommand } from "../record-command.ts";
import { interruption } from "../serve/signals.ts";
import { wholeNumber } from "../settings/parsers.ts";
import { printFacts } from "../terminal/facts.ts";
import { paintedStatus } from "../terminal/painted-status.ts";
import { type ListColumn, printRows } from "../terminal/table.ts";
import { isTerminal, outputClosed, print, printJson, printToStderr } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";
import { followCallInTerminal } from "./follow-call.ts";
import { outcomeLines } from "./outcome-lines.ts";
import { eventLine } from "./timeline.ts";
import { watchCalls } from "./watch-calls.ts";

const DEFAULT_LIMIT = 20;
const LIMIT_PARSER = wholeNumber(1, 1_000_000);
/** Maximum number of calls per request. */
const PAGE_SIZE = 200;

type ListedCall = CallWith<"outcome">;

/** `ringport calls`: the newest calls; with `--watch`, changes to calls as they happen. */
export const calls: CommandSpec = {
  summary: "Lists calls, newest first, or follows them live.",
  details: "With --watch each change is one line, until Ctrl-C; with --json as well, one JSON document per line.",
  options: [
    { name: "watch", help: "Follows changes until Ctrl-C." },
    {
      name: "status",
      placeholder: "STATUS",
      help: `Only calls with this status: ${CALL_STATUSES.join(", ")}.`,
      values: CALL_STATUSES,
    },
    { name: "instance", placeholder: "ID", help: "Only calls of this instance.", completion: "instance" },
    { name: "batch", placeholder: "ID", help: "Only calls of this batch.", completion: "batch" },
    { name: "limit", placeholder: "NUMBER", help: `Maximum number to list. Default: ${DEFAULT_LIMIT}.` },
    jsonOption("the calls with their `outcome` (one per line with --watch)"),
  ],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const limit = limitOf(line);
    const json = line.values.get("json") === true;
    const status = line.values.get("status") as CallStatus | undefined;
    const filter = {
      instance_id: line.values.get("instance") as string | undefined,
      batch_id: line.values.get("batch") as string | undefined,
    };
    const { client } = await connect(line);
    if (line.values.get("watch")) {
      const signal = AbortSignal.any([interruption().signal, outputClosed]);
      if (!json && isTerminal()) printToStderr("Following calls; Ctrl-C stops.");
      await watchCalls(client, { filter, status, json, signal });
      return 0;
    }
    const query: ListCallsQuery<"outcome"> = {
      ...filter,
      status,
      expand: ["outcome"],
      limit: Math.min(limit, PAGE_SIZE),
    };
    const listedCalls: ListedCall[] = [];
    for await (const call of client.calls.list(query)) if (listedCalls.push(call) === limit) break;
    if (json) printJson(listedCalls);
    else if (listedCalls.length === 0) printToStderr("No calls found.");
    else printRows(COLUMNS, listedCalls.map(callCells));
    return 0;
  },
};

const COLUMNS: readonly ListColumn[] = [
  { head: "ID" },
  { head: "TO" },
  { head: "STATUS", paint: paintedStatus },
  { head: "REASON", cut: true },
  { head: "HEARD", dropOrder: 1 },
  { head: "CREATED", dropOrder: 2 },
  { head: "INSTANCE", dropOrder: 3 },
];

/** A call as a table row. */
function callCells({ id, target_phone, status, outcome, created_at, instance_id }: ListedCall): string[] {
  const heardText = outcome?.heard_ratio == null ? "" : `${Math.round(outcome.heard_ratio * 100)} %`;
  return [id, target_phone, status, outcome?.reason ?? "", heardText, created_at.slice(0, 19), instance_id];
}

function limitOf({ values }: ParsedLine): number {
  const text = values.get("limit") as string | undefined;
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = LIMIT_PARSER.parse(text);
  if (limit === undefined) throw new UsageError(`--limit is "${text}": it must be ${LIMIT_PARSER.expected}`);
  return limit;
}

/** `ringport calls show`: one call and its timeline. */
export const callsShow: CommandSpec = {
  summary: "Shows a call, its timeline and its outcome.",
  details: `The exit code is 0 if the call was found; with --follow, it depends on the outcome. ${EXIT_CODES_HELP}`,
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
    if (line.values.get("follow"))
      return followCallInTerminal(client, id, { json, interrupted: interruption(), hangsUp: false });
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
  const startedAt = Date.parse(events[0]?.timestamp ?? call.created_at);
  for (const event of events) print(eventLine(event, startedAt));
  if (!outcome || (status !== "COMPLETED" && status !== "FAILED")) return;
  print();
  for (const text of outcomeLines({ ...call, status, outcome })) print(text);
}

/** `ringport calls hangup`: ends an active call. */
export const callsHangup: CommandSpec = recordCommand({
  record: "call",
  summary: "Hangs up an active call.",
  json: "the call with its `outcome`",
  async request(client, id) {
    await client.calls.hangUp(id);
    return client.calls.get(id, { expand: ["outcome"] });
  },
  show: ({ id, status, outcome }) => printToStderr(`Call ${id} is ${status}${outcome ? `: ${outcome.reason}` : ""}.`),
});

/** `ringport calls recording`: saves a call's recording in a file, or deletes it on the server. */
export const callsRecording: CommandSpec = {
  summary: "Downloads the recording of a call as a WAV file: our audio on the left, the callee's on the right.",
  details: "A call is recorded if it was placed with --record. During the call, the file has the part recorded so far.",
  operands: [{ name: "CALL", completion: "call" }],
  options: [
    {
      name: "output",
      placeholder: "FILE",
      help: "File to write. Default: the call's id with .wav.",
      completion: "file",
    },
    { name: "delete", help: "Deletes the recording on the server instead, permanently." },
  ],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const [id = ""] = line.operands;
    const output = line.values.get("output") as string | undefined;
    const { client } = await connect(line);
    if (line.values.get("delete")) {
      if (output !== undefined) throw new UsageError("--delete writes no file: leave out --output");
      await client.calls.deleteRecording(id);
      printToStderr(`The recording of ${id} is deleted.`);
      return EXIT.done;
    }
    const wav = await client.calls.recording(id);
    const file = resolve(output ?? `${id}.wav`);
    await writeFile(file, wav, { mode: 0o600 }).catch((cause: NodeJS.ErrnoException) => {
      throw new UsageError(`${file} cannot be written (${cause.code}); name another file with --output`, { cause });
    });
    print(file);
    return EXIT.done;
  },
};
