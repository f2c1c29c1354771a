import { useSignal } from "@preact/signals";
import type { WebhookWithSecret } from "../../../../../src/client/index.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/webhooks.ts";
import pt from "../../dictionary/pt/webhooks.ts";
import { client } from "../../shell/client.ts";
import { navigate } from "../../shell/place.ts";
import { SecretDialog } from "./secret-dialog.tsx";
import { WebhookForm } from "./webhook-form.tsx";

const t = dictionary({ en, pt });

/** Creates a webhook, shows its secret, and opens its page. */
export function CreateWebhookDialog({ onClose }: { readonly onClose: () => void }) {
  const createdWebhook = useSignal<WebhookWithSecret | undefined>(undefined);
  const webhook = createdWebhook.value;
  if (webhook)
    return (
      <SecretDialog
        secret={webhook.secret}
        isRotated={false}
        onClose={() => {
          onClose();
          navigate(`/webhooks/${webhook.id}`);
        }}
      />
    );
  const { add, form } = t.value;
  return (
    <Dialog title={add} onClose={onClose}>
      <WebhookForm
        save={async (fields) => {
          createdWebhook.value = await client.webhooks.create(fields);
        }}
        buttons={({ busy }) => (
          <>
            <Button busy={busy}>{form.create}</Button>
            <Button variant="quiet" onClick={onClose}>
              {form.cancel}
            </Button>
          </>
        )}
      />
    </Dialog>
  );
}
