import { useSignal } from "@preact/signals";
import { ownMember } from "../../../../src/base/own-member.ts";
import type { AuditEntryView } from "../../api.ts";
import { Button } from "../components/button.tsx";
import { Card } from "../components/card.tsx";
import { PageLayout } from "../components/page.tsx";
import { Table } from "../components/table.tsx";
import { FaultNotice, Loaded } from "../components/waiting.tsx";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/audit.ts";
import { formatTime } from "../dictionary/format.ts";
import pt from "../dictionary/pt/audit.ts";
import { consoleApi } from "../shell/console-api.ts";
import { href } from "../shell/place.ts";
import { account } from "../shell/session.ts";
import { useAction } from "../shell/use-action.ts";
import { useData } from "../shell/use-data.ts";

const t = dictionary({ en, pt });

/** Number of entries per page; a shorter page is the last one. */
const PAGE_SIZE = 100;

export default function Audit() {
  const newestEntries = useData((signal) => consoleApi.get<AuditEntryView[]>("audit", signal));
  const olderEntries = useSignal<readonly AuditEntryView[]>([]);
  const isLast = useSignal(false);
  const loadMore = useAction(async () => {
    const last = olderEntries.value.at(-1) ?? newestEntries.value.value?.at(-1);
    const page = await consoleApi.get<AuditEntryView[]>(`audit?after=${encodeURIComponent(last?.id ?? "")}`);
    olderEntries.value = [...olderEntries.value, ...page];
    isLast.value = page.length < PAGE_SIZE;
  });
  return (
    <PageLayout
      title={t.value.title}
      lead={account.value?.role === "admin" ? t.value.leadAdmin : t.value.lead}
      actions={<a href={href("/account")}>{t.value.back}</a>}
    >
      <Loaded data={newestEntries} lines={8}>
        {(entries) => (
          <Card>
            <div class="stack">
              <Table
                caption={t.value.title}
                columns={[
                  { title: t.value.action, cell: (entry) => <ActionCell entry={entry} /> },
                  {
                    title: t.value.actor,
                    cell: ({ email }) => email ?? <span class="quiet">{t.value.signedOut}</span>,
                  },
                  { title: t.value.time, cell: ({ at }) => <span class="number">{formatTime(at)}</span> },
                ]}
                rows={[...entries, ...olderEntries.value]}
                keyOf={({ id }) => id}
              />
              {loadMore.fault !== undefined && <FaultNotice error={loadMore.fault} />}
              {entries.length >= PAGE_SIZE && !isLast.value && (
                <div>
                  <Button variant="quiet" busy={loadMore.busy} onClick={() => loadMore.start()}>
                    {t.value.more}
                  </Button>
                </div>
              )}
            </div>
          </Card>
        )}
      </Loaded>
    </PageLayout>
  );
}

/** An action and its subject. */
function ActionCell({ entry: { action, subject } }: { readonly entry: AuditEntryView }) {
  return (
    <div>
      {actionText(action)}
      {subject !== null && <div class="mono small quiet">{subject}</div>}
    </div>
  );
}

/** The action in words; for an unknown one, the server's name. */
function actionText(action: string): string {
  return ownMember(t.value.actions, action) ?? action;
}
