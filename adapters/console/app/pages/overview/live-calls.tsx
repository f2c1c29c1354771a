import { CallBadge } from "../../components/badge.tsx";
import { Card } from "../../components/card.tsx";
import { Table } from "../../components/table.tsx";
import { Loaded } from "../../components/waiting.tsx";
import { callTypes } from "../../dictionary/call-types.ts";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/overview.ts";
import { formatRelative } from "../../dictionary/format.ts";
import pt from "../../dictionary/pt/overview.ts";
import { client } from "../../shell/client.ts";
import { href } from "../../shell/place.ts";
import { useData } from "../../shell/use-data.ts";
import { spacedNumber } from "../calls/typed-number.ts";

const t = dictionary({ en, pt });

/** A live list of the active calls. */
export function LiveCalls() {
  const calls = useData(
    (signal) => client.calls.page({ status: ["QUEUED", "RINGING", "IN_PROGRESS"], limit: 20 }, { signal }),
    ({ type }) => CHANGES.has(type),
  );
  return (
    <Card title={t.value.live.title} actions={<a href={href("/calls")}>{t.value.live.all}</a>}>
      <Loaded data={calls}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="quiet">{t.value.live.none}</p>
          ) : (
            <Table
              caption={t.value.live.title}
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: t.value.live.number,
                  cell: ({ id, target_phone }) => (
                    <a class="number" href={href(`/calls/${id}`)}>
                      {spacedNumber(target_phone)}
                    </a>
                  ),
                },
                { title: t.value.live.status, cell: ({ status }) => <CallBadge status={status} /> },
                { title: t.value.live.type, cell: ({ type }) => callTypes[type].value.name },
                { title: t.value.live.created, cell: ({ created_at }) => formatRelative(created_at) },
              ]}
            />
          )
        }
      </Loaded>
    </Card>
  );
}

/** Events that change the list or a status in it. */
const CHANGES: ReadonlySet<string> = new Set(["queued", "ringing", "answered", "completed", "failed"]);
