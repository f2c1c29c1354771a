import type { Batch, BatchDetails, Client } from "../../../src/client/index.ts";
import { BATCH_STATUSES, type BatchStatus } from "../../../src/domain/batches/batch.ts";
import type { CommandSpec, OptionSpec, ParsedLine } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { jsonOption } from "../json-option.ts";
import { recordCommand } from "../record-command.ts";
import { printFacts } from "../terminal/facts.ts";
import { paintedStatus } from "../terminal/painted-status.ts";
import { type ListColumn, printList } from "../terminal/table.ts";
import { print, printToStderr } from "../terminal/terminal.ts";
import { countsText, printPlan } from "./batch-text.ts";
import { localTimeText } from "./batch-times.ts";

const LIST_COLUMNS: readonly ListColumn[] = [
  { head: "ID" },
  { head: "STATUS", paint: paintedStatus },
  { head: "NAME", cut: true },
  { head: "TYPE", dropOrder: 2 },
  { head: "CREATED", dropOrder: 1 },
];

/** `ringport batch list`: the batches of a user. */
export const batchList: CommandSpec = {
  summary: "Lists batches, newest first.",
  options: [
    { name: "status", placeholder: "STATUS", help: `Only ${BATCH_STATUSES.join(", ")}.`, values: BATCH_STATUSES },
    jsonOption("the batches"),
  ],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const status = line.values.get("status") as BatchStatus | undefined;
    const { client } = await connect(line);
    const batches = await Array.fromAsync(client.batches.list({ status }));
    const none = "No batches found; create one: ringport batch create FILE --text TEXT";
    printList(line, batches, { none, columns: LIST_COLUMNS, cells: batchCells });
    return 0;
  },
};

function batchCells({ id, status, name, type, created_at }: Batch): string[] {
  return [id, status, name, type, created_at.slice(0, 19)];
}

/** `ringport batch show`: a batch and its progress. */
export const batchShow: CommandSpec = recordCommand({
  record: "batch",
  summary: "Shows a batch: its rules and its progress.",
  json: "the batch with its `counts`",
  request: (client, id) => client.batches.get(id),
  show,
});

function show(batch: BatchDetails): void {
  const { schedule, retry, counts } = batch;
  const { hours } = schedule;
  const days = hours?.days ? ` on the days ${hours.days.join(",")}` : "";
  print(`${batch.id} is ${paintedStatus(batch.status)}`);
  printFacts([
    ["reason", batch.reason],
    ["name", batch.name],
    ["type", batch.type],
    ["instances", batch.instance_ids.join(", ")],
    ["from", timeText(schedule.start_at)],
    ["until", timeText(schedule.end_at)],
    ["hours", hours && `${hours.from}-${hours.to}${days} (${schedule.zone})`],
    ["retry", retry && `${retry.on.join(", ")}: ${retry.times}, after ${retry.backoff.first_ms / 1_000} s`],
    ["at once", batch.max_concurrent],
    ["created", timeText(batch.created_at)],
    ["started", timeText(batch.started_at)],
    ["ended", timeText(batch.ended_at)],
    ["estimated end", timeText(batch.estimated_end_at)],
    ["targets", `${counts.targets}: ${countsText(counts.by_status)}`],
    ...counts.waiting_after.map(({ reason, targets }) => [`WAITING after ${reason}`, targets] as const),
    ...counts.by_reason.map(({ status, reason, targets }) => [`${status} ${reason}`, targets] as const),
  ]);
}

function timeText(time: string | null): string | null {
  return time && localTimeText(Date.parse(time));
}

/** A command that changes the status of one batch. */
function step(
  summary: string,
  options: readonly OptionSpec[],
  run: (client: Client, id: string, line: ParsedLine) => Promise<BatchDetails>,
): CommandSpec {
  return recordCommand({
    record: "batch",
    summary,
    options,
    json: "the batch with its `counts`",
    request: run,
    show: (batch, id) =>
      printToStderr(`${id} is ${batch.status}: ${countsText(batch.counts.by_status)}${startsText(batch)}`),
  });
}

function startsText({ status, schedule }: BatchDetails): string {
  return status === "SCHEDULED" ? `; it starts ${timeText(schedule.start_at)}` : "";
}

/** `ringport batch start`. */
export const batchStart: CommandSpec = step(
  "Starts a draft, at once or at its time.",
  [{ name: "skip-invalid", help: "Starts although some rows have problems: they are not called." }],
  (client, id, { values }) => client.batches.start(id, { skipInvalid: values.get("skip-invalid") === true }),
);

/** `ringport batch pause`. */
export const batchPause: CommandSpec = step("Pauses a batch: live calls continue.", [], (client, id) =>
  client.batches.pause(id),
);

/** `ringport batch resume`. */
export const batchResume: CommandSpec = step("Continues a paused batch.", [], (client, id) =>
  client.batches.resume(id),
);

const LIVE_CALL_POLICIES = ["finish", "end"] as const;

/** `ringport batch cancel`. */
export const batchCancel: CommandSpec = step(
  "Cancels a batch: it places no more calls.",
  [
    {
      name: "live",
      placeholder: "finish|end",
      values: LIVE_CALL_POLICIES,
      help: "Live calls finish, or end now. Default: finish.",
    },
  ],
  (client, id, { values }) =>
    client.batches.cancel(id, { liveCalls: values.get("live") as (typeof LIVE_CALL_POLICIES)[number] | undefined }),
);

/** `ringport batch delete`. */
export const batchDelete: CommandSpec = recordCommand({
  record: "batch",
  summary: "Deletes a batch that is a draft or has ended; its calls remain.",
  json: "`id` and `deleted`",
  async request(client, id) {
    await client.batches.delete(id);
    return { id, deleted: true };
  },
  show: ({ id }) => printToStderr(`The batch ${id} is deleted.`),
});

/** `ringport batch plan`: shows when the targets would be called. */
export const batchPlan: CommandSpec = recordCommand({
  record: "batch",
  summary: "Shows when the waiting targets would be called, and from which numbers.",
  json: "the plan",
  request: (client, id) => client.batches.plan(id),
  show: printPlan,
});
