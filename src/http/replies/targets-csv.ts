import type { Batch, BatchTarget } from "../../domain/batches/batch.ts";
import { targetsCsvHeader, targetsCsvRow, VariableColumns } from "../../domain/batches/target-csv.ts";
import type { Reply } from "../../ports/web.ts";
import type { RequestContext } from "../requests/request-context.ts";
import { PRIVATE } from "./reply.ts";

/** Maximum number of targets per read. */
const MAX_TARGETS_PER_READ = 100;

type ReadTargets = (page: { limit: number; after: string | undefined }) => Promise<readonly BatchTarget[]>;

/** True if the request asks for CSV rather than JSON. */
export function wantsCsv(context: RequestContext): boolean {
  return /(?:^|,)\s*text\/csv\s*(?:[;,]|$)/i.test(context.header("accept") ?? "");
}

/**
 * The reply with a CSV file of targets, read a few at a time, so that a long list is never in memory as a whole.
 * @param limit maximum number of rows; undefined: all
 */
export function targetsCsv(
  batch: Batch,
  read: ReadTargets,
  { limit = Number.POSITIVE_INFINITY, after }: { limit?: number | undefined; after: string | undefined },
): Reply {
  return {
    status: 200,
    headers: {
      "content-type": "text/csv; charset=utf-8; header=present",
      "content-disposition": `attachment; filename="${batch.id}.csv"`,
      ...PRIVATE,
    },
    body: csvPieces(batch, read, limit, after),
  };
}

async function* csvPieces(
  { message }: Batch,
  read: ReadTargets,
  limit: number,
  after: string | undefined,
): AsyncGenerator<Uint8Array> {
  // Read twice: the header has the variables of every row.
  const columns = new VariableColumns(message);
  for await (const targets of pagesOf(read, limit, after)) for (const target of targets) columns.add(target);
  const { names } = columns;
  const encoder = new TextEncoder();
  const rowOf = targetsCsvRow(message, names);
  yield encoder.encode(targetsCsvHeader(message, names));
  for await (const targets of pagesOf(read, limit, after)) yield encoder.encode(targets.map(rowOf).join(""));
}

async function* pagesOf(
  read: ReadTargets,
  limit: number,
  after: string | undefined,
): AsyncGenerator<readonly BatchTarget[]> {
  let last = after;
  for (let remaining = limit; remaining > 0; ) {
    const maxRows = Math.min(MAX_TARGETS_PER_READ, remaining);
    const targets = await read({ limit: maxRows, after: last });
    if (targets.length > 0) yield targets;
    if (targets.length < maxRows) return;
    remaining -= targets.length;
    last = String(targets.at(-1)?.position);
  }
}
