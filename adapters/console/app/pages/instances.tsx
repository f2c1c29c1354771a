import { useSignal } from "@preact/signals";
import type { Instance, Page } from "../../../../src/client/index.ts";
import { InstanceBadge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { PageLayout } from "../components/page.tsx";
import { Table, type TableColumn } from "../components/table.tsx";
import { Loaded } from "../components/waiting.tsx";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/instances.ts";
import { formatRelative } from "../dictionary/format.ts";
import pt from "../dictionary/pt/instances.ts";
import { client } from "../shell/client.ts";
import { changeQuery, href, query } from "../shell/place.ts";
import { useData } from "../shell/use-data.ts";
import { CreateInstanceDialog } from "./instances/create-instance-dialog.tsx";
import { networkTexts } from "./instances/network-list.ts";

const t = dictionary({ en, pt });
/** Number of rows that "Show more" adds. */
const PAGE_SIZE = 50;
/** Maximum number of rows per request. */
const MAX_PAGE_SIZE = 200;

export default function Instances() {
  const limit = useSignal(PAGE_SIZE);
  const list = useData(
    (signal) => newestInstances(limit.value, signal),
    ({ type }) => type.startsWith("instance."),
    limit.value,
  );
  const isCreating = query.value.has("new");
  const create = (): void => changeQuery({ new: "1" });
  const button = (
    <Button icon="plus" onClick={create}>
      {t.value.add}
    </Button>
  );
  // Not rendered until its position is known: a button that moves would lose the keyboard focus.
  const hasRows = (list.value.value?.items.length ?? 0) > 0;
  return (
    <PageLayout title={t.value.title} lead={t.value.lead} actions={hasRows ? button : undefined}>
      <Loaded data={list} lines={6}>
        {({ items, next }) =>
          items.length === 0 ? (
            <EmptyState icon="line" title={t.value.empty.title} action={button}>
              {t.value.empty.text}
            </EmptyState>
          ) : (
            <div class="stack">
              <Table caption={t.value.caption} columns={columns()} rows={items} keyOf={({ id }) => id} />
              {next !== undefined && (
                <div>
                  <Button
                    variant="quiet"
                    onClick={() => {
                      limit.value += PAGE_SIZE;
                    }}
                  >
                    {t.value.more}
                  </Button>
                </div>
              )}
            </div>
          )
        }
      </Loaded>
      {isCreating && <CreateInstanceDialog onClose={() => changeQuery({ new: undefined })} />}
    </PageLayout>
  );
}

/** The newest instances, and the cursor for the next ones. */
async function newestInstances(count: number, signal: AbortSignal): Promise<Page<Instance>> {
  const items: Instance[] = [];
  let next: string | undefined;
  do {
    const limit = Math.min(MAX_PAGE_SIZE, count - items.length);
    const page = await client.instances.page({ limit, cursor: next, expand: ["connection"] }, { signal });
    items.push(...page.items);
    next = page.next;
  } while (next !== undefined && items.length < count);
  return { items, next };
}

function columns(): readonly TableColumn<Instance>[] {
  const { column } = t.value;
  return [
    { title: column.name, cell: ({ id, name }) => <a href={href(`/instances/${id}`)}>{name}</a> },
    { title: column.status, cell: ({ status }) => <InstanceBadge status={status} /> },
    {
      title: column.phone,
      cell: ({ connection }) => <span class="number">{connection?.phone ?? t.value.noPhone}</span>,
    },
    { title: column.network, cell: ({ connection }) => connection && networkTexts(connection.provider).title },
    { title: column.created, cell: ({ created_at }) => <span class="number">{formatRelative(created_at)}</span> },
  ];
}
