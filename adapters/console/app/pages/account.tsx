import { Button } from "../components/button.tsx";
import { Card } from "../components/card.tsx";
import { LanguageSwitch } from "../components/language-switch.tsx";
import { PageLayout } from "../components/page.tsx";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/account.ts";
import { formatDay } from "../dictionary/format.ts";
import pt from "../dictionary/pt/account.ts";
import { href } from "../shell/place.ts";
import { account, signedIn, signOut } from "../shell/session.ts";
import { useAction } from "../shell/use-action.ts";
import { DeleteAccount } from "./account/delete-account.tsx";
import { InvitationsCard } from "./account/invitations.tsx";
import { PasswordForm } from "./account/password-form.tsx";
import { SessionsCard } from "./account/sessions.tsx";

const t = dictionary({ en, pt });

export default function Account() {
  const signOutAction = useAction(signOut);
  const person = account.value;
  const state = signedIn.value;
  if (person === null || state === undefined) return null;
  const signOutButton = (
    <Button variant="quiet" busy={signOutAction.busy} onClick={() => signOutAction.start()}>
      {t.value.signOut}
    </Button>
  );
  return (
    <PageLayout title={t.value.title} lead={person.email} actions={state.accounts ? signOutButton : undefined}>
      <div class="columns">
        <div class="stack">
          <Card title={t.value.details}>
            <dl class="facts">
              {state.accounts && (
                <>
                  <dt>{t.value.role}</dt>
                  <dd>{t.value.roles[person.role]}</dd>
                  <dt>{t.value.since}</dt>
                  <dd>{formatDay(person.created_at)}</dd>
                </>
              )}
              <dt>{t.value.language}</dt>
              <dd>
                <LanguageSwitch />
              </dd>
              <dt>{t.value.address}</dt>
              <dd class="mono small">{state.api_url}</dd>
              <dt>{t.value.version}</dt>
              <dd>
                Ringport {state.version} · <a href={`${state.api_url}/docs`}>{t.value.docs}</a>
              </dd>
            </dl>
          </Card>
          {state.accounts && <PasswordForm />}
        </div>
        <div class="stack">
          {state.accounts && <SessionsCard />}
          {state.accounts && person.role === "admin" && <InvitationsCard />}
          {state.accounts && (
            <Card title={t.value.audit}>
              <div class="stack">
                <p class="quiet">{person.role === "admin" ? t.value.auditAdmin : t.value.auditOwn}</p>
                <p>
                  <a href={href("/audit")}>{t.value.auditOpen}</a>
                </p>
              </div>
            </Card>
          )}
          {state.accounts && <DeleteAccount />}
        </div>
      </div>
    </PageLayout>
  );
}
