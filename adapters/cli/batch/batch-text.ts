import type { BatchPlan, ImportReport, TargetWait } from "../../../src/client/index.ts";
import { detailWithoutColumn } from "../../../src/domain/batches/fault-column.ts";
import { optionOf } from "../request-fields.ts";
import { secondsText } from "../terminal/progress-bar.ts";
import { inOneCell, type ListColumn, printRows, table } from "../terminal/table.ts";
import { DEFAULT_COLUMNS, print, printToStderr, terminalColumns } from "../terminal/terminal.ts";
import { localTimeText } from "./batch-times.ts";

/** Maximum number of problem rows, and of planned calls, to print. */
const MAX_ROWS = 20;

type Counts = Readonly<Record<string, number>>;

const STATUS_WORDS: readonly (readonly [status: string, words: string])[] = [
  ["WAITING", "to call"],
  ["CALLING", "being called"],
  ["COMPLETED", "completed"],
  ["FAILED", "failed"],
  ["CANCELLED", "cancelled"],
  ["INVALID", "with problems"],
  ["DUPLICATE", "repeated"],
];

/** Numbers of targets by status: `297 to call, 2 with problems`. */
export function countsText(counts: Counts): string {
  const parts = STATUS_WORDS.flatMap(([status, words]) => (counts[status] ? [`${counts[status]} ${words}`] : []));
  return parts.length > 0 ? parts.join(", ") : "no targets";
}

const WAIT_WORDS: Readonly<Record<TargetWait["reason"], string>> = {
  start: "the start of the batch",
  paused: "the batch to resume",
  hours: "its hours",
  gap: "the gap after another call",
  retry: "a retry",
  line: "a free line",
  daily_call_limit: "the daily limit of calls",
  storage_quota: "free storage",
  server_busy: "the server, which is busy",
};

/** The condition that a target waits for: `a retry after busy, Tue 2026-12-01 10:00 -03:00`. */
export function waitText({ reason, after, until }: TargetWait): string {
  const cause = reason === "retry" && after !== null ? ` after ${after}` : "";
  return `${WAIT_WORDS[reason]}${cause}${until === null ? "" : `, ${localTimeText(Date.parse(until))}`}`;
}

/** The next steps for a draft. */
export function startText(id: string, invalid: number): string {
  if (invalid === 0) return `No calls are placed until you start it: ringport batch start ${id}`;
  return [
    `No calls are placed yet. Correct these rows in the console, or call the others: ringport batch start ${id} --skip-invalid`,
    `To create the batch from a corrected file instead, delete this draft: ringport batch delete ${id}`,
  ].join("\n");
}

/**
 * Prints the first rows with problems to stderr, by row and column.
 * @param batchId undefined if the batch is not stored
 */
export function printRowFaults(report: ImportReport, batchId: string | undefined): void {
  const { stored, faults, rows } = report;
  const { INVALID: invalid = 0, DUPLICATE: duplicates = 0 } = stored;
  const count = invalid + duplicates;
  if (count === 0) return;
  const listedFaults = faults.slice(0, MAX_ROWS);
  const lines = listedFaults.flatMap(({ row, phone_number, faults: rowFaults }) =>
    rowFaults.map(({ column, file_column, detail }) => [
      `row ${row}`,
      inOneCell(file_column ?? (placeOf(column) || phone_number)),
      inOneCell(detailWithoutColumn(file_column, detail)),
    ]),
  );
  const parts = [
    ...(invalid > 0 ? [`${invalid} of ${rows} rows have problems`] : []),
    ...(duplicates > 0 ? [`${duplicates} of ${rows} rows repeat a number, which is called once`] : []),
  ];
  printToStderr(`${parts.join("; ")}:`);
  const columns = Math.max(terminalColumns(), DEFAULT_COLUMNS);
  for (const line of table(lines, columns)) printToStderr(line);
  const hiddenCount = count - listedFaults.length;
  const hiddenText = hiddenCount > 0 ? `… and ${hiddenCount} more. ` : "";
  if (batchId !== undefined) printToStderr(`${hiddenText}All of them as CSV: ringport batch errors ${batchId}`);
  else if (hiddenCount > 0) printToStderr(`${hiddenText}Create the batch without --dry-run to get all of them as CSV.`);
}

/** The column that has the problem, or the option whose text has it. */
function placeOf(column: string): string {
  const field = /^message\.(.+)$/.exec(column)?.[1];
  return (field && optionOf(`/${field.replaceAll(".", "/")}`)) ?? column;
}

const INSTANCE_COLUMNS: readonly ListColumn[] = [
  { head: "INSTANCE" },
  { head: "CALLS" },
  { head: "LINES", dropOrder: 2 },
  { head: "PACE", dropOrder: 1 },
  { head: "NUMBER", dropOrder: 3 },
  { head: "PROBLEM", cut: true },
];

const CALL_COLUMNS: readonly ListColumn[] = [{ head: "FIRST CALLS" }, { head: "TO" }, { head: "FROM" }];

/** Prints a plan. */
export function printPlan(plan: BatchPlan): void {
  const { starts_at, ends_at, call_ms, instances, problems, calls } = plan;
  print(countsText(plan.targets));
  if (starts_at !== null && ends_at !== null) {
    print(`first call ${localTimeText(Date.parse(starts_at))}`);
    print(`last call ends about ${localTimeText(Date.parse(ends_at))}, if each one takes ${secondsText(call_ms)}`);
  } else print("no calls would be placed");
  printRows(
    INSTANCE_COLUMNS,
    instances.map(({ instance_id, calls, lines, pace_ms, phone, blocked }) => [
      instance_id,
      `${calls} calls`,
      `${lines} at once`,
      pace_ms === 0 ? "no pause" : `one per ${secondsText(pace_ms)}`,
      phone ?? "",
      blocked ?? "",
    ]),
  );
  printRows(
    CALL_COLUMNS,
    calls
      .slice(0, MAX_ROWS)
      .map(({ at, phone_number, instance_id }) => [localTimeText(Date.parse(at)), phone_number, instance_id]),
  );
  if (calls.length > MAX_ROWS) printToStderr(`… and more calls; --json lists the first ${calls.length}`);
  for (const { detail } of problems) printToStderr(`problem: ${inOneCell(detail)}`);
}
