import { useSignal } from "@preact/signals";
import type { InvitationView, NewInvitationView } from "../../../api.ts";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { CopyField } from "../../components/copy.tsx";
import { FaultNotice, Loaded } from "../../components/waiting.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/account.ts";
import { formatRelative } from "../../dictionary/format.ts";
import pt from "../../dictionary/pt/account.ts";
import { confirm } from "../../shell/confirm.tsx";
import { consoleApi } from "../../shell/console-api.ts";
import { useAction } from "../../shell/use-action.ts";
import { useData } from "../../shell/use-data.ts";

const t = dictionary({ en, pt });

/** Unused invitations. For administrators. */
export function InvitationsCard() {
  const invitations = useData((signal) => consoleApi.get<InvitationView[]>("invitations", signal));
  const newInvitation = useSignal<NewInvitationView | undefined>(undefined);
  const invite = useAction(async () => {
    newInvitation.value = await consoleApi.post<NewInvitationView>("invitations");
    await invitations.reload();
  });
  const withdraw = (id: string): void =>
    confirm({
      title: t.value.invitations.withdrawTitle,
      consequence: t.value.invitations.withdrawConsequence,
      action: t.value.invitations.withdraw,
      run: async () => {
        await consoleApi.delete(`invitations/${encodeURIComponent(id)}`);
        if (newInvitation.value?.id === id) newInvitation.value = undefined;
        await invitations.reload();
      },
    });
  return (
    <Card
      title={t.value.invitations.title}
      actions={
        <Button small variant="quiet" icon="plus" busy={invite.busy} onClick={() => invite.start()}>
          {t.value.invitations.create}
        </Button>
      }
    >
      <div class="stack">
        {invite.fault !== undefined && <FaultNotice error={invite.fault} />}
        {newInvitation.value && (
          <div class="stack stack-s">
            <CopyField label={t.value.invitations.address} value={newInvitation.value.url} />
            <p class="small quiet">{t.value.invitations.once}</p>
          </div>
        )}
        <Loaded data={invitations}>
          {(list) =>
            list.length === 0 ? (
              <p class="quiet">{t.value.invitations.none}</p>
            ) : (
              <ul class="items">
                {list.map(({ id, expires_at }) => (
                  <li key={id}>
                    <span class="grow">{t.value.invitations.expires(formatRelative(expires_at))}</span>
                    <Button small variant="quiet" onClick={() => withdraw(id)}>
                      {t.value.invitations.withdraw}
                    </Button>
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      </div>
    </Card>
  );
}
