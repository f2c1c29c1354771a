import { useSignal } from "@preact/signals";
import type { PasswordResetBody, SessionState } from "../../api.ts";
import { SignalField } from "../components/field.tsx";
import { Form } from "../components/form.tsx";
import { PageLayout } from "../components/page.tsx";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/sign-in.ts";
import pt from "../dictionary/pt/sign-in.ts";
import { consoleApi } from "../shell/console-api.ts";
import { fragmentCode } from "../shell/fragment-code.ts";
import { beginSession } from "../shell/session.ts";
import { useAction } from "../shell/use-action.ts";
import { NewPassword } from "./account/new-password.tsx";

const t = dictionary({ en, pt });

export default function Reset() {
  const code = useSignal("");
  const password = useSignal("");
  const reset = useAction(async () => {
    const body: PasswordResetBody = { code: fragmentCode.value || code.value.trim(), password: password.value };
    beginSession(await consoleApi.post<SessionState>("password-reset", body));
  });
  const { reset: texts } = t.value;
  return (
    <PageLayout title={texts.title} lead={texts.lead}>
      <Form action={reset} buttons={texts.action}>
        {fragmentCode.value === "" && (
          <SignalField
            label={texts.code}
            hint={texts.codeHint}
            autocomplete="one-time-code"
            spellcheck={false}
            required
            signal={code}
          />
        )}
        <NewPassword label={texts.password} value={password} />
      </Form>
    </PageLayout>
  );
}
