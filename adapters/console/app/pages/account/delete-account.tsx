import { useSignal } from "@preact/signals";
import type { AccountDeletionBody } from "../../../api.ts";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { SignalField } from "../../components/field.tsx";
import { Form } from "../../components/form.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/account.ts";
import pt from "../../dictionary/pt/account.ts";
import { consoleApi } from "../../shell/console-api.ts";
import { reloadEndedSession } from "../../shell/session.ts";
import { useAction } from "../../shell/use-action.ts";

const t = dictionary({ en, pt });

/** Deletes the account with all its data, after the password has been entered again. */
export function DeleteAccount() {
  const isOpen = useSignal(false);
  const password = useSignal("");
  const close = (): void => {
    isOpen.value = false;
    password.value = "";
  };
  const remove = useAction(async () => {
    const body: AccountDeletionBody = { password: password.value };
    await consoleApi.post("account-deletion", body);
    close();
    await reloadEndedSession();
  });
  const texts = t.value.deletion;
  return (
    <Card title={texts.title}>
      <div class="stack">
        <p class="quiet">{texts.consequence}</p>
        <div>
          <Button
            variant="danger"
            onClick={() => {
              isOpen.value = true;
            }}
          >
            {texts.open}
          </Button>
        </div>
      </div>
      {isOpen.value && (
        <Dialog title={texts.question} onClose={close}>
          <div class="stack">
            <p>{texts.consequence}</p>
            <Form
              action={remove}
              buttons={
                <>
                  <Button variant="danger" busy={remove.busy}>
                    {texts.action}
                  </Button>
                  <Button variant="quiet" onClick={close}>
                    {texts.keep}
                  </Button>
                </>
              }
            >
              <SignalField
                label={texts.password}
                type="password"
                autocomplete="current-password"
                required
                signal={password}
              />
            </Form>
          </div>
        </Dialog>
      )}
    </Card>
  );
}
