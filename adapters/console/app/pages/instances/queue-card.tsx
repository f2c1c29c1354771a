import type { InstanceDetails } from "../../../../../src/client/index.ts";
import { CallBadge } from "../../components/badge.tsx";
import { Card } from "../../components/card.tsx";
import { Table } from "../../components/table.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/instances.ts";
import { formatRelative } from "../../dictionary/format.ts";
import pt from "../../dictionary/pt/instances.ts";
import { href } from "../../shell/place.ts";

const t = dictionary({ en, pt });

/** An instance's active calls, oldest first. */
export function QueueCard({ instance: { id, callQueue } }: { readonly instance: InstanceDetails }) {
  const { queue } = t.value;
  return (
    <Card title={queue.title} actions={<a href={href(`/calls?instance=${id}`)}>{queue.all}</a>}>
      {callQueue.length === 0 ? (
        <p class="quiet">{queue.empty}</p>
      ) : (
        <Table
          caption={queue.caption}
          rows={callQueue}
          keyOf={(call) => call.id}
          columns={[
            {
              title: queue.to,
              cell: (call) => (
                <a class="number" href={href(`/calls/${call.id}`)}>
                  {call.target_phone}
                </a>
              ),
            },
            { title: queue.status, cell: ({ status }) => <CallBadge status={status} /> },
            { title: queue.since, cell: ({ created_at }) => formatRelative(created_at) },
          ]}
        />
      )}
    </Card>
  );
}
