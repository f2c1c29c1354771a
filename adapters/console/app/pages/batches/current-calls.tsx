import type { BatchDetails, BatchTarget } from "../../../../../src/client/index.ts";
import { Card } from "../../components/card.tsx";
import { Table } from "../../components/table.tsx";
import { Loaded } from "../../components/waiting.tsx";
import { formatNumber } from "../../dictionary/format.ts";
import { client } from "../../shell/client.ts";
import { batchProgressOf } from "./batch-progress.ts";
import { batchTexts as t } from "./batch-texts.ts";
import { TargetLink } from "./target-link.tsx";
import { changesCalls, isOfBatch, useLiveData } from "./use-live-data.ts";

/** Maximum number of calls that the page shows. */
const MAX_ROWS = 10;

/** The active calls of a batch, each with a link to its page. */
export function CurrentCalls({ batch: { id, counts, ended_at } }: { readonly batch: BatchDetails }) {
  const { current } = t.value;
  const targets = useLiveData(
    (signal) => callingTargets(id, signal),
    (event) => ended_at === null && (changesCalls(event) || isOfBatch(event, id)),
  );
  const hiddenCount = batchProgressOf(counts).calling - MAX_ROWS;
  return (
    <Card title={current.title}>
      <Loaded data={targets}>
        {(rows) =>
          rows.length === 0 ? (
            <p class="quiet">{current.none}</p>
          ) : (
            <>
              <Table
                caption={current.title}
                rows={rows}
                keyOf={({ position }) => String(position)}
                columns={[
                  { title: current.number, cell: (target) => <TargetLink target={target} /> },
                  { title: current.attempt, cell: ({ attempts }) => formatNumber(Math.max(1, attempts)) },
                  { title: current.reference, cell: ({ reference }) => reference ?? "" },
                ]}
              />
              {hiddenCount > 0 && <p class="small quiet">{current.more(hiddenCount)}</p>}
            </>
          )
        }
      </Loaded>
    </Card>
  );
}

async function callingTargets(id: string, signal: AbortSignal): Promise<readonly BatchTarget[]> {
  const rows: BatchTarget[] = [];
  for await (const target of client.batches.targets(id, { status: ["CALLING"], limit: MAX_ROWS }, { signal }))
    if (rows.push(target) === MAX_ROWS) break;
  return rows;
}
