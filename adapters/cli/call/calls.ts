import type { CallWith, ListCallsQuery } from "../../../src/client/index.ts";
import { CALL_STATUSES, type CallStatus } from "../../../src/domain/call.ts";
import type { CommandSpec, ParsedLine } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { jsonOption } from "../json-option.ts";
import { wholeNumber } from "../parsers.ts";
import { interruption } from "../signals.ts";
import { paintedStatus } from "../terminal/painted-status.ts";
import { type Column, printRows } from "../terminal/table.ts";
import { isWatched, outputGone, printBeside, printJson } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";
import { watchCalls } from "./watch-calls.ts";

const DEFAULT_LIMIT = 20;
const LIMIT = wholeNumber(1, 1_000_000);
/** Calls of one request. */
const PAGE = 200;

type ListedCall = CallWith<"outcome">;

/** `ringport calls`: the newest calls; with `--watch` what becomes of calls from now on. */
export const calls: CommandSpec = {
  summary: "Lists calls, newest first, or follows them live.",
  details: "With --watch each change is one line, until Ctrl-C; with --json as well, one JSON document per line.",
  options: [
    { name: "watch", help: "Follows changes until Ctrl-C." },
    { name: "status", placeholder: "STATUS", help: `Only ${CALL_STATUSES.join(", ")}.`, values: CALL_STATUSES },
    { name: "instance", placeholder: "ID", help: "Only calls of this instance.", completion: "instance" },
    { name: "limit", placeholder: "NUMBER", help: `Maximum number to list. Default: ${DEFAULT_LIMIT}.` },
    jsonOption("the calls with their `outcome` (one a line with --watch)"),
  ],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const limit = limitOf(line);
    const json = line.values.get("json") === true;
    const status = line.values.get("status") as CallStatus | undefined;
    const filter = { instance_id: line.values.get("instance") as string | undefined };
    const { client } = await connect(line);
    if (line.values.get("watch")) {
      const signal = AbortSignal.any([interruption().signal, outputGone]);
      if (!json && isWatched()) printBeside("Following calls; Ctrl-C stops.");
      await watchCalls(client, { filter, status, json, signal });
      return 0;
    }
    const query: ListCallsQuery<"outcome"> = { ...filter, status, expand: ["outcome"], limit: Math.min(limit, PAGE) };
    const found: ListedCall[] = [];
    for await (const call of client.calls.list(query)) if (found.push(call) === limit) break;
    if (json) printJson(found);
    else if (found.length === 0) printBeside("No calls found.");
    else printRows(COLUMNS, found.map(callCells));
    return 0;
  },
};

const COLUMNS: readonly Column[] = [
  { head: "ID" },
  { head: "TO" },
  { head: "STATUS", paint: paintedStatus },
  { head: "REASON", cut: true },
  { head: "HEARD", leftOut: 1 },
  { head: "CREATED", leftOut: 2 },
  { head: "INSTANCE", leftOut: 3 },
];

/** A call as a row. */
function callCells({ id, target_phone, status, outcome, created_at, instance_id }: ListedCall): string[] {
  const heard = outcome?.heard_ratio == null ? "" : `${Math.round(outcome.heard_ratio * 100)} %`;
  return [id, target_phone, status, outcome?.reason ?? "", heard, created_at.slice(0, 19), instance_id];
}

function limitOf({ values }: ParsedLine): number {
  const given = values.get("limit") as string | undefined;
  if (given === undefined) return DEFAULT_LIMIT;
  const limit = LIMIT.parse(given);
  if (limit === undefined) throw new UsageError(`--limit is "${given}": it must be ${LIMIT.expected}`);
  return limit;
}
