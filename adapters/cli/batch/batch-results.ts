import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import process from "node:process";
import type { BatchTarget } from "../../../src/client/index.ts";
import { TARGET_STATUSES, type TargetStatus } from "../../../src/domain/batches/batch.ts";
import type { CommandSpec, OptionSpec, ParsedLine } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { jsonOption } from "../json-option.ts";
import { paintedStatus } from "../terminal/painted-status.ts";
import { type ListColumn, printRows } from "../terminal/table.ts";
import { print, printJson, printToStderr } from "../terminal/terminal.ts";
import { UsageError } from "../usage-error.ts";
import { waitText } from "./batch-text.ts";

const OUTPUT_OPTION: OptionSpec = {
  name: "output",
  short: "o",
  placeholder: "FILE",
  help: "Writes this file instead of the output.",
  completion: "file",
};

const BOM_OPTION: OptionSpec = {
  name: "bom",
  help: "Begins the CSV with a byte order mark: a spreadsheet such as Excel then reads it as UTF-8.",
};

const COLUMNS: readonly ListColumn[] = [
  { head: "ROW" },
  { head: "NUMBER" },
  { head: "STATUS", paint: paintedStatus },
  { head: "REASON", cut: true },
  { head: "ATTEMPTS", dropOrder: 3 },
  { head: "HEARD", dropOrder: 2 },
  { head: "REFERENCE", dropOrder: 4, cut: true },
  { head: "CALL", dropOrder: 5 },
  { head: "WAITS FOR", dropOrder: 1, cut: true },
];

/** `ringport batch results`: the result of each target. */
export const batchResults: CommandSpec = {
  summary: "Shows what became of each target of a batch, and what the others wait for.",
  details: "As CSV it also has the variables, who answered, the times, and the fields that an agent reported.",
  operands: [{ name: "ID", completion: "batch" }],
  options: [
    { name: "csv", help: "Prints CSV." },
    { name: "status", placeholder: "STATUS", help: `Only ${TARGET_STATUSES.join(", ")}.`, values: TARGET_STATUSES },
    OUTPUT_OPTION,
    BOM_OPTION,
    jsonOption("the targets with their `result`"),
  ],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const [id = ""] = line.operands;
    const json = line.values.get("json") === true;
    const csvOption = ["csv", "output", "bom"].find((name) => (line.values.get(name) ?? false) !== false);
    if (json && csvOption !== undefined) throw new UsageError(`--json prints JSON: leave out --${csvOption}`);
    const status = line.values.get("status") as TargetStatus | undefined;
    const filter = { status: status && [status] };
    const { client } = await connect(line);
    if (csvOption !== undefined) return writeCsv(line, await client.batches.results(id, filter));
    const targets = await Array.fromAsync(client.batches.targets(id, filter));
    if (json) printJson(targets);
    else if (targets.length === 0) printToStderr("No targets found.");
    else printRows(COLUMNS, targets.map(targetCells));
    return 0;
  },
};

function targetCells(target: BatchTarget): string[] {
  const { row, phone_number, status, reason, attempts, reference, call_id, result, faults, waiting } = target;
  const heard = result?.heard_ratio == null ? "" : `${Math.round(result.heard_ratio * 100)} %`;
  const reasonText = reason ?? faults.map(({ detail }) => detail).join("; ");
  const cells = [
    String(row),
    phone_number,
    status,
    reasonText,
    String(attempts),
    heard,
    reference ?? "",
    call_id ?? "",
  ];
  return [...cells, waiting ? waitText(waiting) : ""];
}

/** `ringport batch errors`: the rows with problems, for correction. */
export const batchErrors: CommandSpec = {
  summary: "Prints the rows with problems as CSV, each with its problems.",
  details: "The column `faults` names each problem. Corrected, the file can be used for a new batch.",
  operands: [{ name: "ID", completion: "batch" }],
  options: [OUTPUT_OPTION, BOM_OPTION],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const [id = ""] = line.operands;
    const { client } = await connect(line);
    return writeCsv(line, await client.batches.results(id, { status: ["INVALID"] }));
  },
};

async function writeCsv({ values }: ParsedLine, text: string): Promise<number> {
  const csv = values.get("bom") === true ? `\ufeff${text}` : text;
  const output = values.get("output") as string | undefined;
  if (output === undefined) {
    process.stdout.write(csv);
    return 0;
  }
  const file = resolve(output);
  await writeFile(file, csv, { mode: 0o600 }).catch((cause: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} cannot be written (${cause.code}); name another file with --output`, { cause });
  });
  print(file);
  return 0;
}
