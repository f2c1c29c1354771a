import { useSignal } from "@preact/signals";
import type { LoginBody, SessionState } from "../../api.ts";
import { SignalField } from "../components/field.tsx";
import { Form } from "../components/form.tsx";
import { Notice } from "../components/notice.tsx";
import { PageLayout } from "../components/page.tsx";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/sign-in.ts";
import pt from "../dictionary/pt/sign-in.ts";
import { consoleApi } from "../shell/console-api.ts";
import { fragmentCode } from "../shell/fragment-code.ts";
import { href } from "../shell/place.ts";
import { beginSession, signedIn } from "../shell/session.ts";
import { useAction } from "../shell/use-action.ts";
import { NewPassword } from "./account/new-password.tsx";

const t = dictionary({ en, pt });

export default function Register() {
  const code = useSignal("");
  const hasFragmentCode = fragmentCode.value !== "";
  const email = useSignal("");
  const password = useSignal("");
  const register = useAction(async () => {
    const enteredCode = fragmentCode.value || code.value.trim();
    const body: LoginBody = {
      email: email.value,
      password: password.value,
      ...(enteredCode !== "" && { code: enteredCode }),
    };
    beginSession(await consoleApi.post<SessionState>("register", body));
  });
  const { register: texts } = t.value;
  const requirement = signedIn.value?.registration ?? "open";
  const lead =
    requirement === "first" ? texts.leadFirst : requirement === "invitation" ? texts.leadInvitation : texts.lead;
  return (
    <PageLayout title={requirement === "first" ? texts.titleFirst : texts.title} lead={lead}>
      <div class="stack">
        <Form action={register} buttons={texts.action}>
          {hasFragmentCode && requirement !== "open" && <Notice tone="good">{texts.hasCode}</Notice>}
          {!hasFragmentCode && requirement !== "open" && (
            <SignalField
              label={requirement === "first" ? texts.codeFirst : texts.code}
              hint={requirement === "first" ? texts.codeHintFirst : texts.codeHint}
              autocomplete="one-time-code"
              spellcheck={false}
              required
              signal={code}
            />
          )}
          <SignalField label={t.value.email} type="email" autocomplete="username" required signal={email} />
          <NewPassword label={t.value.password} value={password} />
        </Form>
        {requirement !== "first" && (
          <p class="small">
            {texts.hasAccount} <a href={href("/sign-in")}>{texts.signIn}</a>
          </p>
        )}
      </div>
    </PageLayout>
  );
}
