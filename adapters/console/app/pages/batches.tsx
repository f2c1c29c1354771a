import { useSignal } from "@preact/signals";
import type { Batch, BatchDetails } from "../../../../src/client/index.ts";
import { LinkButton, MoreButton } from "../components/button.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { PageLayout } from "../components/page.tsx";
import { Table, type TableColumn } from "../components/table.tsx";
import { Loaded, Progress } from "../components/waiting.tsx";
import { formatNumber, formatRelative } from "../dictionary/format.ts";
import { client } from "../shell/client.ts";
import { href } from "../shell/place.ts";
import { BatchBadge } from "./batches/batch-badge.tsx";
import { batchProgressOf } from "./batches/batch-progress.ts";
import { batchTexts as t } from "./batches/batch-texts.ts";
import { isOfBatch, useLiveData } from "./batches/use-live-data.ts";

/** Number of batches that "Show older batches" adds. */
const STEP = 20;

/** `/batches`: the account's batches. */
export default function Batches() {
  const limit = useSignal(STEP);
  const list = useLiveData(
    async (signal) => {
      const batches: Batch[] = [];
      for await (const batch of client.batches.list({ limit: limit.value + 1 }, { signal }))
        if (batches.push(batch) > limit.value) break;
      return batches;
    },
    ({ type }) => type.startsWith("batch_"),
    limit.value,
  );
  const button = (
    <LinkButton icon="plus" to={href("/batches/new")}>
      {t.value.add}
    </LinkButton>
  );
  return (
    <PageLayout title={t.value.title} lead={t.value.lead} actions={list.value.value?.length ? button : undefined}>
      <Loaded data={list} lines={6}>
        {(batches) =>
          batches.length === 0 ? (
            <EmptyState icon="batch" title={t.value.empty.title} action={button}>
              {t.value.empty.text}
            </EmptyState>
          ) : (
            <div class="stack">
              <Table
                caption={t.value.caption}
                columns={columns()}
                rows={batches.slice(0, limit.value)}
                keyOf={({ id }) => id}
              />
              <MoreButton limit={limit} length={batches.length} step={STEP}>
                {t.value.more}
              </MoreButton>
            </div>
          )
        }
      </Loaded>
    </PageLayout>
  );
}

function columns(): readonly TableColumn<Batch>[] {
  const { column } = t.value;
  return [
    { title: column.name, cell: ({ id, name }) => <a href={href(`/batches/${id}`)}>{name}</a> },
    { title: column.status, cell: ({ status }) => <BatchBadge status={status} /> },
    { title: column.progress, cell: (batch) => <RowProgress batch={batch} /> },
    { title: column.created, cell: ({ created_at }) => <span class="number">{formatRelative(created_at)}</span> },
  ];
}

/** Progress of a started batch. The list has no counts, so each batch is read. */
function RowProgress({ batch: { id, name, status } }: { readonly batch: Batch }) {
  const details = useLiveData<BatchDetails | undefined>(
    async (signal) => (status === "DRAFT" ? undefined : client.batches.get(id, { signal })),
    (event) => isOfBatch(event, id),
    status,
  );
  const counts = details.value.value?.counts;
  if (!counts) return null;
  const { ended, total, share } = batchProgressOf(counts);
  return (
    <div class="batch-progress">
      <Progress label={name} value={share} />
      <span class="small quiet number">{t.value.progress.done(formatNumber(ended), formatNumber(total))}</span>
    </div>
  );
}
