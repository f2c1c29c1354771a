import { Button } from "../../components/button.tsx";
import { CopyField } from "../../components/copy.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/webhooks.ts";
import pt from "../../dictionary/pt/webhooks.ts";

const t = dictionary({ en, pt });

/** Shows a secret. Escape does not close the dialog, because the secret is shown only once. */
export function SecretDialog({
  secret,
  isRotated,
  onClose,
}: {
  readonly secret: string;
  readonly isRotated: boolean;
  readonly onClose: () => void;
}) {
  const texts = t.value.secret;
  return (
    <Dialog title={texts.title} onClose={() => {}}>
      <div class="stack">
        <p>{texts.text}</p>
        <CopyField label={texts.label} value={secret} />
        {isRotated && <p class="quiet">{texts.old}</p>}
      </div>
      <div class="dialog-actions">
        <Button onClick={onClose}>{texts.done}</Button>
      </div>
    </Dialog>
  );
}
