import { useSignal } from "@preact/signals";
import type { LoginBody, SessionState } from "../../api.ts";
import { SignalField } from "../components/field.tsx";
import { Form } from "../components/form.tsx";
import { PageLayout } from "../components/page.tsx";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/sign-in.ts";
import pt from "../dictionary/pt/sign-in.ts";
import { consoleApi } from "../shell/console-api.ts";
import { href } from "../shell/place.ts";
import { beginSession, signedIn } from "../shell/session.ts";
import { useAction } from "../shell/use-action.ts";

const t = dictionary({ en, pt });

export default function SignIn() {
  const email = useSignal("");
  const password = useSignal("");
  const signIn = useAction(async () => {
    const body: LoginBody = { email: email.value, password: password.value };
    beginSession(await consoleApi.post<SessionState>("sign-in", body));
  });
  const { signIn: texts } = t.value;
  return (
    <PageLayout title={texts.title} lead={texts.lead}>
      <div class="stack">
        <Form action={signIn} buttons={texts.action}>
          <SignalField label={t.value.email} type="email" autocomplete="username" required signal={email} />
          <SignalField
            label={t.value.password}
            type="password"
            autocomplete="current-password"
            required
            signal={password}
          />
        </Form>
        {signedIn.value?.registration === "open" && (
          <p class="small">
            {texts.noAccount} <a href={href("/register")}>{texts.register}</a>
          </p>
        )}
        {signedIn.value?.registration === "invitation" && <p class="small quiet">{texts.invitation}</p>}
        <details class="small">
          <summary>{texts.forgotten}</summary>
          <p>{texts.forgottenHelp}</p>
          <pre class="command">ringport account reset {email.value || "you@example.com"}</pre>
        </details>
      </div>
    </PageLayout>
  );
}
