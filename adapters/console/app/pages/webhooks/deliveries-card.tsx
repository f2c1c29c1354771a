import { useEffect, useRef } from "preact/hooks";
import type { Webhook, WebhookDelivery } from "../../../../../src/client/index.ts";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { Select } from "../../components/field.tsx";
import { Table, type TableColumn } from "../../components/table.tsx";
import { FaultNotice, Loaded } from "../../components/waiting.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/webhooks.ts";
import { formatRelative, formatTime } from "../../dictionary/format.ts";
import pt from "../../dictionary/pt/webhooks.ts";
import { client } from "../../shell/client.ts";
import { changeQuery, query } from "../../shell/place.ts";
import { toast } from "../../shell/toasts.tsx";
import { useAction } from "../../shell/use-action.ts";
import { useData } from "../../shell/use-data.ts";
import { DeliveryBadge } from "./status-badge.tsx";

const t = dictionary({ en, pt });

/** Maximum number of deliveries shown. */
const MAX_ROWS = 50;
/** The list is polled from this long before the next attempt, ms: no event reports the end of a delivery. */
const DUE_WITHIN_MS = 30_000;
const POLL_MS = 2_000;

type Filter = "all" | WebhookDelivery["status"];

/** A webhook's deliveries: sent, pending or failed. */
export function DeliveriesCard({
  webhook,
  onFailed,
}: {
  readonly webhook: Webhook;
  /** Called when a delivery has failed permanently, which may have disabled the webhook. */
  readonly onFailed: () => void;
}) {
  const { id, events, enabled } = webhook;
  const filter = filterOf(query.value.get("status"));
  const list = useData(
    (signal) => latestDeliveries(id, filter, signal),
    ({ type }) => enabled && (events === null || events.includes(type)),
    filter,
  );
  usePolling(list.value.value, list.reload);
  const failedCount = list.value.value?.filter(({ status }) => status === "failed").length;
  const previousFailedCount = useRef(failedCount);
  useEffect(() => {
    if (
      failedCount !== undefined &&
      previousFailedCount.current !== undefined &&
      failedCount > previousFailedCount.current
    )
      onFailed();
    previousFailedCount.current = failedCount;
  }, [failedCount]);
  const { deliveries, detail } = t.value;
  const test = useAction(async () => {
    await client.webhooks.test(id);
    toast(detail.tested);
    await list.reload();
  });
  const reloadAction = useAction(() => list.reload());
  return (
    <Card
      title={deliveries.title}
      actions={
        <div class="row">
          <Button small variant="quiet" busy={reloadAction.busy} onClick={() => reloadAction.start()}>
            {deliveries.reload}
          </Button>
          <Button small disabled={!enabled} busy={test.busy} onClick={() => test.start()}>
            {detail.test}
          </Button>
        </div>
      }
    >
      <div class="stack">
        {test.fault !== undefined && <FaultNotice error={test.fault} />}
        <div class="delivery-filter">
          <Select
            label={deliveries.filter}
            value={filter}
            options={[
              { value: "all", text: deliveries.all },
              ...(["pending", "delivered", "failed"] as const).map((value) => ({
                value,
                text: deliveries.status[value],
              })),
            ]}
            onChange={(value) => changeQuery({ status: value === "all" ? undefined : value })}
          />
        </div>
        <Loaded data={list} lines={4}>
          {(rows) =>
            rows.length === 0 ? (
              <p class="quiet">{filter === "all" ? deliveries.empty : deliveries.emptyOf}</p>
            ) : (
              <>
                <Table
                  caption={deliveries.caption}
                  columns={columns(webhook, list.reload)}
                  rows={rows}
                  keyOf={(delivery) => delivery.id}
                />
                <p class="quiet small">
                  {rows.length === MAX_ROWS && `${deliveries.latest(MAX_ROWS)} `}
                  {deliveries.kept}
                </p>
              </>
            )
          }
        </Loaded>
      </div>
    </Card>
  );
}

function filterOf(text: string | null): Filter {
  return text === "pending" || text === "delivered" || text === "failed" ? text : "all";
}

async function latestDeliveries(id: string, filter: Filter, signal: AbortSignal): Promise<readonly WebhookDelivery[]> {
  const rows: WebhookDelivery[] = [];
  const status = filter === "all" ? undefined : filter;
  for await (const delivery of client.webhooks.deliveries(id, { limit: MAX_ROWS, status }, { signal }))
    if (rows.push(delivery) === MAX_ROWS) break;
  return rows;
}

/** Keeps reading the list while an attempt is running or due. */
function usePolling(rows: readonly WebhookDelivery[] | undefined, reload: () => Promise<void>): void {
  const isDue = rows?.some(
    ({ status, next_attempt_at }) =>
      status === "pending" && (next_attempt_at === null || Date.parse(next_attempt_at) - Date.now() < DUE_WITHIN_MS),
  );
  useEffect(() => {
    if (!isDue) return;
    const timer = setTimeout(() => void reload(), POLL_MS);
    return () => clearTimeout(timer);
  }, [rows, isDue]);
}

function columns(webhook: Webhook, reload: () => Promise<void>): readonly TableColumn<WebhookDelivery>[] {
  const { column, noResponse, next } = t.value.deliveries;
  return [
    { title: column.event, cell: ({ event_type }) => <code>{event_type}</code> },
    { title: column.status, cell: (delivery) => <DeliveryBadge delivery={delivery} /> },
    {
      title: column.response,
      cell: ({ last_status, last_error }) => (
        <>
          {last_status ?? (last_error === null && noResponse)}
          {last_status === null && last_error !== null && <span class="small fault">{last_error}</span>}
        </>
      ),
    },
    {
      title: column.attempts,
      cell: ({ attempts, next_attempt_at }) => (
        <>
          <span class="number">{attempts}</span>
          {next_attempt_at !== null && <div class="small quiet">{next(formatRelative(next_attempt_at))}</div>}
        </>
      ),
    },
    {
      title: column.at,
      cell: ({ last_attempt_at, created_at }) => formatTime(last_attempt_at ?? created_at),
    },
    {
      title: column.action,
      action: true,
      cell: (delivery) => <Replay webhook={webhook} delivery={delivery} reload={reload} />,
    },
  ];
}

function Replay({
  webhook: { id, enabled },
  delivery,
  reload,
}: {
  readonly webhook: Webhook;
  readonly delivery: WebhookDelivery;
  readonly reload: () => Promise<void>;
}) {
  const { deliveries } = t.value;
  const replay = useAction(async () => {
    await client.webhooks.replay(id, delivery.id);
    toast(deliveries.replayed);
    await reload();
  });
  if (delivery.status === "pending") return null;
  return (
    <>
      <Button
        small
        variant="quiet"
        busy={replay.busy}
        disabled={!enabled}
        label={deliveries.replayNamed(delivery.event_type, formatTime(delivery.created_at))}
        onClick={() => replay.start()}
      >
        {deliveries.replay}
      </Button>
      {replay.fault !== undefined && <FaultNotice error={replay.fault} />}
    </>
  );
}
