import { readFile, stat } from "node:fs/promises";
import { type Client, type CreatedBatch, RingportError } from "../../../src/client/index.ts";
import type { CommandSpec, ParsedLine } from "../command.ts";
import { connect } from "../connection/connection.ts";
import { CONNECTION_SETTINGS } from "../connection/connection-settings.ts";
import { EXIT } from "../exit-codes.ts";
import { chosenInstance } from "../instance/chosen-instance.ts";
import { jsonOption } from "../json-option.ts";
import { interruption } from "../serve/signals.ts";
import { print, printJson, printToStderr } from "../terminal/terminal.ts";
import { IncompleteError, UsageError } from "../usage-error.ts";
import { BATCH_OPTIONS, batchOf } from "./batch-options.ts";
import { countsText, printPlan, printRowFaults, startText } from "./batch-text.ts";
import { localTimeText, zoneName } from "./batch-times.ts";

/** Largest file that a server accepts, bytes. */
const MAX_FILE_BYTES = 64 << 20;

/** `ringport batch create`: a batch from a CSV file, checked before any phone rings. */
export const batchCreate: CommandSpec = {
  summary: "Creates a batch: one message for everybody in a CSV file.",
  details: [
    "The first row of the file names its columns: one has the numbers (phone, telefone, …), the others are variables of the message, such as {{nome}}. Comma, semicolon or tab; UTF-8 or Windows-1252.",
    "Checks everything first. Rows with problems are listed, and the batch does not start unless you add --skip-invalid. Without --start, the batch is a draft and places no calls.",
    "A draft with problems in its rows is kept, because they can be corrected in the console. If the file is refused, and after --dry-run or Ctrl-C, no batch is left; if the start is refused, the error names the draft.",
    "Exit code: 0 created, 2 bad input or rows with problems, 130 Ctrl-C.",
  ].join("\n"),
  operands: [{ name: "FILE", completion: "file" }],
  options: [
    ...BATCH_OPTIONS,
    {
      name: "phone-column",
      placeholder: "NAME",
      help: "Column with the numbers, if several columns could have them. Default: the usual names.",
    },
    { name: "reference-column", placeholder: "NAME", help: "Column with your references. Default: reference." },
    {
      name: "variable-columns",
      placeholder: "NAME=COLUMN[,…]",
      help: 'Columns of variables that have another name in the file: "nome=First name,cidade=City".',
    },
    { name: "dry-run", help: "Shows who would be called when, and leaves no batch." },
    { name: "start", help: "Starts the batch, at once or at the time of --at." },
    { name: "skip-invalid", help: "Starts although some rows have problems: they are not called." },
    jsonOption("the batch with its `report`; with --dry-run the plan"),
  ],
  settings: CONNECTION_SETTINGS,
  async run(line) {
    const [file = ""] = line.operands;
    const isOn = (name: string): boolean => line.values.get(name) === true;
    const json = isOn("json");
    if (isOn("dry-run") && isOn("start")) throw new UsageError("--dry-run starts nothing: leave out --start");
    const batch = await batchOf(line, file, Date.now());
    const columns = {
      phoneColumn: line.values.get("phone-column") as string | undefined,
      referenceColumn: line.values.get("reference-column") as string | undefined,
      variableColumns: variableColumnsOf(line.values.get("variable-columns") as string | undefined),
    };
    const csv = await readTable(file);
    const { client } = await connect(line);
    const instanceIds = await chosenInstances(line, (name) => chosenInstance(client, name));
    if (!json) printTimes(batch.schedule);

    const interrupted = interruption();
    const { signal } = interrupted;
    const draft = await client.batches.create({ ...batch, instanceIds });
    try {
      const report = await discardOnFailure(client, draft.id, async () => {
        const imported = await client.batches
          .addTargets(draft.id, new Blob([csv]), { ...columns, signal })
          .catch((error: unknown) => {
            throw withoutRows(error, file);
          });
        if (imported.rows === 0) throw new UsageError(`FILE is "${file}": it has no row below its header`);
        signal.throwIfAborted();
        return imported;
      });
      const { INVALID: invalid = 0 } = report.stored;
      const mustStop = invalid > 0 && !isOn("skip-invalid");
      if (!json) printRowFaults(report, isOn("dry-run") ? undefined : draft.id);
      if (isOn("dry-run")) {
        const plan = await discardOnFailure(client, draft.id, () => client.batches.plan(draft.id, { signal }));
        if (json) printJson(plan);
        else printPlan(plan);
        await discard(client, draft.id);
      } else {
        const shouldStart = isOn("start") && !mustStop;
        const details = await keepOnFailure(draft.id, shouldStart, () =>
          shouldStart
            ? client.batches.start(draft.id, { skipInvalid: isOn("skip-invalid") })
            : client.batches.get(draft.id),
        );
        if (json) printJson({ ...details, report } satisfies CreatedBatch);
        else {
          print(draft.id);
          printToStderr(`"${details.name}" is ${details.status}: ${countsText(report.stored)}`);
          printToStderr(shouldStart ? `Follow it: ringport batch watch ${draft.id}` : startText(draft.id, invalid));
        }
      }
      return mustStop ? EXIT.usage : EXIT.done;
    } catch (error) {
      if (error !== signal.reason) throw error;
      if (!json) printToStderr("Interrupted: no batch was created.");
      return interrupted.exitCode();
    }
  },
};

/** Runs a creation step. If it fails, the draft is deleted. @throws {IncompleteError} the draft could not be deleted */
async function discardOnFailure<T>(client: Client, id: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    await discard(client, id, error);
    throw error;
  }
}

/**
 * The error of an import. If the file has too many rows, the error does not mention stored rows, because the draft is
 * deleted.
 */
function withoutRows(error: unknown, file: string): unknown {
  if (!(error instanceof RingportError) || error.code !== "batch_full") return error;
  const [limit = ""] = error.detail.split(";");
  const detail = `FILE is "${file}": ${limit}: split the file, and create a batch of each part`;
  const { status, requestId } = error;
  return new RingportError("batch_full", detail, { status, requestId: requestId ?? undefined, cause: error });
}

/** Deletes a draft. @param failure the reason; default: the draft is no longer needed @throws {IncompleteError} */
async function discard(client: Client, id: string, failure?: unknown): Promise<void> {
  await client.batches.delete(id).catch((error: unknown) => {
    throw new IncompleteError(`the draft ${id} could not be deleted; do so later: ringport batch delete ${id}`, {
      cause: failure ?? error,
    });
  });
}

/**
 * Runs the last creation step. If it fails, the draft is kept, because its rows are stored. @throws {IncompleteError}
 */
async function keepOnFailure<T>(id: string, shouldStart: boolean, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (cause) {
    const isDraft = !shouldStart || (cause instanceof RingportError && cause.status >= 400 && cause.status < 500);
    const note = isDraft
      ? `the draft ${id} is kept; continue with ringport batch start ${id}, or delete it: ringport batch delete ${id}`
      : `the batch ${id} may have been started: ringport batch show ${id}`;
    throw new IncompleteError(note, { cause });
  }
}

async function chosenInstances(
  { values }: ParsedLine,
  choose: (name: string | undefined) => Promise<{ readonly id: string }>,
): Promise<string[]> {
  const names = (values.get("instance") as string | undefined)?.split(",").map((name) => name.trim());
  const ids: string[] = [];
  for (const name of names ?? [undefined]) ids.push((await choose(name)).id);
  const repeatedIndex = ids.findIndex((id, i) => ids.indexOf(id) !== i);
  if (repeatedIndex >= 0) throw new UsageError(`--instance names ${ids[repeatedIndex]} twice: leave out one of them`);
  return ids;
}

/** The columns by variable. @throws {UsageError} */
function variableColumnsOf(text: string | undefined): Readonly<Record<string, string>> | undefined {
  if (text === undefined) return undefined;
  const pairs = text.split(",").map((pair) => {
    const [, name = "", column = ""] = /^([^=]+)=(.+)$/.exec(pair) ?? [];
    if (name.trim() === "" || column.trim() === "")
      throw new UsageError(`--variable-columns is "${text}": "${pair}" must be NAME=COLUMN, such as name=First name`);
    return [name.trim().replace(/^\{\{(.*)\}\}$/, "$1"), column.trim()] as const;
  });
  return Object.fromEntries(pairs);
}

/** Prints absolute times, because "tomorrow 10:00" depends on this machine's time zone. */
function printTimes(
  schedule: { readonly startAt?: string | undefined; readonly endAt?: string | undefined } = {},
): void {
  const times = [
    ["from", schedule.startAt],
    ["until", schedule.endAt],
  ].flatMap(([word, time]) => (time === undefined ? [] : [`${word} ${localTimeText(Date.parse(time))}`]));
  if (times.length > 0) printToStderr(`Calls ${times.join(" ")} (${zoneName()})`);
}

/** The bytes of a CSV file on this machine. @throws {UsageError} the file cannot be read, is empty or is too large */
async function readTable(path: string): Promise<Uint8Array<ArrayBuffer>> {
  const unreadable = (cause: NodeJS.ErrnoException): never => {
    const reason = cause.code === "ENOENT" ? "there is no such file" : `it cannot be read (${cause.code})`;
    throw new UsageError(`FILE is "${path}": ${reason}`, { cause });
  };
  const { size } = await stat(path).catch(unreadable);
  if (size > MAX_FILE_BYTES)
    throw new UsageError(`FILE is "${path}": it has ${size} bytes, at most ${MAX_FILE_BYTES} are allowed; split it`);
  const bytes = await readFile(path).catch(unreadable);
  if (bytes.length === 0)
    throw new UsageError(`FILE is "${path}": it is empty; its first row must name the columns, such as phone,name`);
  return new Uint8Array(bytes);
}
