import { useSignal } from "@preact/signals";
import type { BatchDetails, BatchTarget } from "../../../../../src/client/index.ts";
import { TARGET_STATUSES } from "../../../../../src/domain/batches/batch.ts";
import { Button, MoreButton } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { Select } from "../../components/field.tsx";
import { Table, type TableColumn } from "../../components/table.tsx";
import { FaultNotice, Loaded } from "../../components/waiting.tsx";
import { formatNumber, formatRelative } from "../../dictionary/format.ts";
import { client } from "../../shell/client.ts";
import { changeQuery, query } from "../../shell/place.ts";
import { useAction } from "../../shell/use-action.ts";
import { TargetBadge } from "./batch-badge.tsx";
import { reasonText, batchTexts as t } from "./batch-texts.ts";
import { downloadCsv } from "./download-csv.ts";
import { TargetFaults } from "./target-faults.tsx";
import { TargetLink } from "./target-link.tsx";
import { changesCalls, isOfBatch, useLiveData } from "./use-live-data.ts";

type Filter = BatchTarget["status"] | "all";

/** Number of targets that "Show more" adds. */
const STEP = 50;

/** A batch's targets, filtered by status, with a download of the results. */
export function TargetsCard({ batch: { id, counts, ended_at } }: { readonly batch: BatchDetails }) {
  const { targets, target } = t.value;
  const filter = filterOf(query.value.get("status"));
  const limit = useSignal(STEP);
  const list = useLiveData(
    (signal) => firstTargets(id, filter, limit.value, signal),
    (event) => ended_at === null && (changesCalls(event) || isOfBatch(event, id)),
    `${filter} ${limit.value}`,
  );
  const download = useAction(() => downloadCsv(id));
  const withCount = (text: string, count: number | undefined) => `${text} (${formatNumber(count ?? 0)})`;
  return (
    <Card
      title={targets.title}
      actions={
        <Button small variant="quiet" icon="down" busy={download.busy} onClick={() => download.start()}>
          {targets.download}
        </Button>
      }
    >
      <div class="stack">
        {download.fault !== undefined && <FaultNotice error={download.fault} />}
        <div class="batch-filter">
          <Select
            label={targets.filter}
            value={filter}
            options={[
              { value: "all", text: withCount(targets.all, counts.targets) },
              ...TARGET_STATUSES.filter((status) => counts.by_status[status] || status === filter).map((status) => ({
                value: status,
                text: withCount(target[status], counts.by_status[status]),
              })),
            ]}
            onChange={(value) => {
              limit.value = STEP;
              changeQuery({ status: value === "all" ? undefined : value });
            }}
          />
        </div>
        <Loaded data={list} lines={5}>
          {(rows) => (
            <>
              {rows.length === 0 ? (
                <p class="quiet">{targets.none}</p>
              ) : (
                <Table
                  caption={targets.caption}
                  columns={columns(rows)}
                  rows={rows.slice(0, limit.value)}
                  keyOf={({ position }) => String(position)}
                />
              )}
              <MoreButton limit={limit} length={rows.length} step={STEP}>
                {targets.more}
              </MoreButton>
            </>
          )}
        </Loaded>
      </div>
    </Card>
  );
}

function filterOf(text: string | null): Filter {
  return TARGET_STATUSES.find((status) => status === text) ?? "all";
}

/** The first `max` targets with a status, plus one if there are more. */
async function firstTargets(id: string, filter: Filter, max: number, signal: AbortSignal): Promise<BatchTarget[]> {
  const rows: BatchTarget[] = [];
  const status = filter === "all" ? undefined : [filter];
  for await (const target of client.batches.targets(id, { limit: Math.min(max + 1, 1_000), status }, { signal }))
    if (rows.push(target) > max) break;
  return rows;
}

function columns(rows: readonly BatchTarget[]): readonly TableColumn<BatchTarget>[] {
  const { targets } = t.value;
  return [
    { title: targets.number, cell: (target) => <TargetLink target={target} /> },
    { title: targets.status, cell: ({ status }) => <TargetBadge status={status} /> },
    { title: targets.result, cell: (target) => <Result target={target} /> },
    { title: targets.attempts, cell: ({ attempts }) => <span class="number">{formatNumber(attempts)}</span> },
    ...(rows.some(({ reference }) => reference !== null)
      ? [{ title: targets.reference, cell: ({ reference }: BatchTarget) => reference ?? "" }]
      : []),
  ];
}

function Result({ target: { reason, faults, waiting, next_attempt_at } }: { readonly target: BatchTarget }) {
  const { targets } = t.value;
  const lastReason = waiting?.after ?? reason;
  const nextAt = waiting ? waiting.until : next_attempt_at;
  return (
    <div>
      {lastReason !== null && <div>{reasonText(lastReason)}</div>}
      <TargetFaults faults={faults} />
      {waiting && waiting.reason !== "retry" && <div class="small quiet">{targets.waits[waiting.reason]}</div>}
      {nextAt !== null && Date.parse(nextAt) > Date.now() && (
        <div class="small quiet">{targets.next(formatRelative(nextAt))}</div>
      )}
    </div>
  );
}
