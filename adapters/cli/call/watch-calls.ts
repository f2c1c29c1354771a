import type { CallWith, Client } from "../../../src/client/index.ts";
import { sleep } from "../../../src/client/pause.ts";
import { type CallStatus, isActive } from "../../../src/domain/calls/call.ts";
import { paintedStatus } from "../terminal/painted-status.ts";
import { paint, print, printJsonLine, terminalColumns } from "../terminal/terminal.ts";
import { columnsOf } from "../terminal/wrapped.ts";

/** Options of the watch. */
export interface WatchOptions {
  readonly filter: { readonly instance_id?: string | undefined; readonly batch_id?: string | undefined };
  /** Prints only changes to this status. */
  readonly status: CallStatus | undefined;
  readonly json: boolean;
  /** Ends the watch. */
  readonly signal: AbortSignal;
}

type WatchedCall = CallWith<"outcome">;

const POLL_MS = 500;
/** Number of calls listed in each poll; older active calls are read by id. */
const PAGE_SIZE = 50;

/** Prints the active calls, then every change, until the signal fires. */
export async function watchCalls(client: Client, options: WatchOptions): Promise<void> {
  const { filter, status, signal } = options;
  const statuses = new Map<string, WatchedCall["status"]>();
  let isFirst = true;
  try {
    for (;;) {
      const { items } = await client.calls.page({ ...filter, limit: PAGE_SIZE, expand: ["outcome"] }, { signal });
      const listedIds = new Set(items.map(({ id }) => id));
      const currentCalls = [...(await unlistedCalls(client, statuses, listedIds, signal)), ...items].reverse();
      for (const call of currentCalls) {
        if (statuses.get(call.id) === call.status) continue;
        statuses.set(call.id, call.status);
        const isPrinted = !isFirst || isActive(call.status);
        if (isPrinted && (status === undefined || call.status === status)) printChange(call, options.json);
      }
      // Ended calls that are no longer listed do not change again.
      for (const [id, lastStatus] of statuses) if (!isActive(lastStatus) && !listedIds.has(id)) statuses.delete(id);
      isFirst = false;
      await sleep(POLL_MS, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Calls that were active when last seen, and that newer calls have pushed off the page. */
async function unlistedCalls(
  client: Client,
  statuses: ReadonlyMap<string, WatchedCall["status"]>,
  listedIds: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<WatchedCall[]> {
  const calls: WatchedCall[] = [];
  for (const [id, status] of statuses)
    if (isActive(status) && !listedIds.has(id)) calls.push(await client.calls.get(id, { expand: ["outcome"], signal }));
  return calls;
}

function printChange(call: WatchedCall, json: boolean): void {
  if (json) {
    printJsonLine(call);
    return;
  }
  const { id, target_phone, status, outcome, created_at, started_at, ended_at } = call;
  const at = (ended_at ?? started_at ?? created_at).slice(11, 19);
  const heard = outcome?.heard_ratio == null ? "" : `, heard ${Math.round(outcome.heard_ratio * 100)} %`;
  const change = `${paint(2, at)}  ${id}  ${target_phone}  ${paintedStatus(status)}`;
  const reason = outcome ? `${outcome.reason}${heard}` : "";
  const fits = columnsOf(change) + columnsOf(reason) + 2 <= terminalColumns();
  print(`${change}${fits ? "  " : `\n${" ".repeat(at.length + 2)}`}${reason}`.trimEnd());
}
