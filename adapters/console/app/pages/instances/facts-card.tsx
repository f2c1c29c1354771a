import type { InstanceDetails } from "../../../../../src/client/index.ts";
import { InstanceBadge } from "../../components/badge.tsx";
import { Card } from "../../components/card.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/instances.ts";
import { formatRelative, formatTime } from "../../dictionary/format.ts";
import pt from "../../dictionary/pt/instances.ts";
import { networkTexts } from "./network-list.ts";

const t = dictionary({ en, pt });

/** An overview of the number and its network. */
export function FactsCard({ instance }: { readonly instance: InstanceDetails }) {
  const { facts, noPhone } = t.value;
  const { connection } = instance;
  return (
    <Card title={facts.title}>
      <dl class="facts">
        <dt>{facts.status}</dt>
        <dd>
          <InstanceBadge status={instance.status} />
        </dd>
        <dt>{facts.phone}</dt>
        <dd class="number">{connection?.phone ?? noPhone}</dd>
        {connection && (
          <>
            <dt>{facts.network}</dt>
            <dd>{networkTexts(connection.provider).title}</dd>
            <dt>{facts.seen}</dt>
            <dd>{connection.last_seen_at === null ? facts.never : formatRelative(connection.last_seen_at)}</dd>
          </>
        )}
        {connection?.paused_until !== undefined && (
          <>
            <dt>{facts.paused}</dt>
            <dd title={connection.pause_reason}>{formatTime(connection.paused_until)}</dd>
          </>
        )}
        <dt>{facts.created}</dt>
        <dd>{formatTime(instance.created_at)}</dd>
        <dt>{facts.id}</dt>
        <dd class="mono">{instance.id}</dd>
      </dl>
    </Card>
  );
}
