import { useSignal } from "@preact/signals";
import type { PasswordBody, SessionState } from "../../../api.ts";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { SignalField } from "../../components/field.tsx";
import { Form } from "../../components/form.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/account.ts";
import pt from "../../dictionary/pt/account.ts";
import { consoleApi } from "../../shell/console-api.ts";
import { account, beginSession } from "../../shell/session.ts";
import { toast } from "../../shell/toasts.tsx";
import { useAction } from "../../shell/use-action.ts";
import { NewPassword } from "./new-password.tsx";

const t = dictionary({ en, pt });

/** Changes the password of the account. */
export function PasswordForm() {
  const current = useSignal("");
  const next = useSignal("");
  const change = useAction(async () => {
    const body: PasswordBody = { current: current.value, next: next.value };
    beginSession(await consoleApi.post<SessionState>("password", body));
    current.value = next.value = "";
    toast(t.value.password.changed);
  });
  return (
    <Card title={t.value.password.title}>
      <Form action={change} buttons={<Button busy={change.busy}>{t.value.password.action}</Button>}>
        {/* Names the account for password managers. */}
        <input
          type="email"
          class="visually-hidden"
          autocomplete="username"
          value={account.value?.email ?? ""}
          readOnly
          tabIndex={-1}
          aria-hidden="true"
        />
        <SignalField
          label={t.value.password.current}
          type="password"
          autocomplete="current-password"
          required
          signal={current}
        />
        <NewPassword label={t.value.password.next} value={next} />
        <p class="small quiet">{t.value.password.consequence}</p>
      </Form>
    </Card>
  );
}
