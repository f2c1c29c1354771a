import { useSignal } from "@preact/signals";
import type { NewTokenView, TokenView } from "../../api.ts";
import { Badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Card } from "../components/card.tsx";
import { Dialog } from "../components/dialog.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { PageLayout } from "../components/page.tsx";
import { Table, type TableColumn } from "../components/table.tsx";
import { Loaded } from "../components/waiting.tsx";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/tokens.ts";
import { formatDay, formatRelative, formatTime } from "../dictionary/format.ts";
import pt from "../dictionary/pt/tokens.ts";
import { client } from "../shell/client.ts";
import { confirm } from "../shell/confirm.tsx";
import { consoleApi } from "../shell/console-api.ts";
import { toast } from "../shell/toasts.tsx";
import { useData } from "../shell/use-data.ts";
import { CreatedToken } from "./tokens/created-token.tsx";
import { NewTokenForm } from "./tokens/new-token.tsx";

const t = dictionary({ en, pt });

export default function Tokens() {
  const tokens = useData((signal) => consoleApi.get<TokenView[]>("tokens", signal));
  const instances = useData((signal) => client.instances.page({ limit: 100 }, { signal }));
  const names = new Map(instances.value.value?.items.map(({ id, name }) => [id, name]));
  const dialog = useSignal<"new" | NewTokenView | undefined>(undefined);
  const close = (): void => {
    dialog.value = undefined;
  };
  const currentDialog = dialog.value;
  const button = (
    <Button
      icon="plus"
      onClick={() => {
        dialog.value = "new";
      }}
    >
      {t.value.create}
    </Button>
  );
  return (
    <PageLayout title={t.value.title} lead={t.value.lead} actions={button}>
      <Loaded data={tokens}>
        {(list) =>
          list.length === 0 ? (
            <EmptyState icon="key" title={t.value.empty} action={button}>
              {t.value.emptyHelp}
            </EmptyState>
          ) : (
            <Card>
              <Table
                caption={t.value.title}
                columns={columns(names, tokens.reload)}
                rows={list}
                keyOf={(token) => token.id}
              />
            </Card>
          )
        }
      </Loaded>
      {currentDialog === "new" && (
        <Dialog title={t.value.newTitle} onClose={close}>
          <NewTokenForm
            onCancel={close}
            onCreated={(newToken) => {
              dialog.value = newToken;
              void tokens.reload();
            }}
          />
        </Dialog>
      )}
      {typeof currentDialog === "object" && (
        <Dialog title={t.value.created.title(currentDialog.label)} onClose={close}>
          <CreatedToken token={currentDialog} onClose={close} />
        </Dialog>
      )}
    </PageLayout>
  );
}

/** @param names instance names, by id */
function columns(names: ReadonlyMap<string, string>, reload: () => Promise<void>): TableColumn<TokenView>[] {
  const texts = t.value.columns;
  return [
    { title: texts.name, cell: ({ label }) => label },
    { title: texts.access, cell: (token) => <Access token={token} names={names} /> },
    {
      title: texts.used,
      cell: ({ last_used_at: at }) =>
        at === null ? (
          <span class="quiet">{t.value.neverUsed}</span>
        ) : (
          <span title={formatTime(at)}>{formatRelative(at)}</span>
        ),
    },
    { title: texts.expires, cell: ({ expires_at: at }) => <Expiry at={at} /> },
    { title: texts.created, cell: ({ created_at: at }) => <span class="number">{formatDay(at)}</span> },
    {
      title: texts.actions,
      action: true,
      cell: (token) => (
        <Button
          small
          variant="danger"
          label={t.value.revokeNamed(token.label)}
          onClick={() =>
            confirm({
              title: t.value.revokeTitle(token.label),
              consequence: t.value.revokeConsequence,
              action: t.value.revoke,
              run: async () => {
                await consoleApi.delete(`tokens/${encodeURIComponent(token.id)}`);
                toast(t.value.revoked);
                await reload();
              },
            })
          }
        >
          {t.value.revoke}
        </Button>
      ),
    },
  ];
}

/** A token's permissions, in words. */
function Access({
  token: { scopes, demo_instance_id: demo },
  names,
}: {
  readonly token: TokenView;
  readonly names: ReadonlyMap<string, string>;
}) {
  const access = scopes === null ? t.value.everything : scopes.map((scope) => t.value.scopes[scope].title).join(", ");
  return (
    <span>
      {access}
      {demo !== null && <span class="quiet small"> · {t.value.demoOf(names.get(demo) ?? demo)}</span>}
    </span>
  );
}

function Expiry({ at }: { readonly at: string | null }) {
  if (at === null) return <span class="quiet">{t.value.never}</span>;
  if (Date.parse(at) <= Date.now()) return <Badge tone="bad">{t.value.expired}</Badge>;
  return <span title={formatTime(at)}>{formatRelative(at)}</span>;
}
