import type { Webhook } from "../../../../src/client/index.ts";
import { Button } from "../components/button.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { PageLayout } from "../components/page.tsx";
import { Table, type TableColumn } from "../components/table.tsx";
import { Loaded } from "../components/waiting.tsx";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/webhooks.ts";
import { formatRelative } from "../dictionary/format.ts";
import pt from "../dictionary/pt/webhooks.ts";
import { client } from "../shell/client.ts";
import { changeQuery, href, query } from "../shell/place.ts";
import { useData } from "../shell/use-data.ts";
import { CreateWebhookDialog } from "./webhooks/create-webhook-dialog.tsx";
import { WebhookBadge } from "./webhooks/status-badge.tsx";

const t = dictionary({ en, pt });

export default function Webhooks() {
  const list = useData(allWebhooks);
  const button = (
    <Button icon="plus" onClick={() => changeQuery({ new: "1" })}>
      {t.value.add}
    </Button>
  );
  return (
    <PageLayout
      title={t.value.title}
      lead={t.value.lead}
      actions={list.value.value === undefined || list.value.value.length === 0 ? undefined : button}
    >
      <Loaded data={list} lines={6}>
        {(webhooks) =>
          webhooks.length === 0 ? (
            <EmptyState icon="webhook" title={t.value.empty.title} action={button}>
              {t.value.empty.text}
            </EmptyState>
          ) : (
            <Table caption={t.value.caption} columns={columns()} rows={webhooks} keyOf={({ id }) => id} />
          )
        }
      </Loaded>
      {query.value.has("new") && <CreateWebhookDialog onClose={() => changeQuery({ new: undefined })} />}
    </PageLayout>
  );
}

function allWebhooks(signal: AbortSignal): Promise<readonly Webhook[]> {
  return Array.fromAsync(client.webhooks.list({}, { signal }));
}

function columns(): readonly TableColumn<Webhook>[] {
  const { column, every, some } = t.value;
  return [
    {
      title: column.url,
      cell: ({ id, url, description }) => (
        <>
          <a href={href(`/webhooks/${id}`)}>{url}</a>
          {description !== null && <div class="quiet small">{description}</div>}
        </>
      ),
    },
    { title: column.status, cell: (webhook) => <WebhookBadge webhook={webhook} /> },
    {
      title: column.events,
      cell: ({ events }) => (events === null ? every : events.length > 2 ? some(events.length) : events.join(", ")),
    },
    { title: column.created, cell: ({ created_at }) => <span class="number">{formatRelative(created_at)}</span> },
  ];
}
