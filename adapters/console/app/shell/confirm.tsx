import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { FaultNotice } from "../components/waiting.tsx";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/components.ts";
import pt from "../dictionary/pt/components.ts";

const t = dictionary({ en, pt });

/** A question asked before an action that cannot be undone. */
export interface Question {
  /** Question that names the object: "Revoke the token “Shop”?" */
  readonly title: string;
  /** Consequences of the action: "Programs that use it stop working at once." */
  readonly consequence: ComponentChildren;
  /** Text of the button, as a verb: "Revoke token". */
  readonly action: string;
  /** Carries out the action; the dialog stays open until it has succeeded. */
  readonly run: () => Promise<void>;
}

const question = signal<Question | undefined>(undefined);
const fault = signal<unknown>(undefined);
const busy = signal(false);

/** Asks before an action that cannot be undone, and carries out the action if confirmed. */
export function confirm(newQuestion: Question): void {
  fault.value = undefined;
  busy.value = false;
  question.value = newQuestion;
}

export function ConfirmDialog() {
  const current = question.value;
  if (current === undefined) return null;
  const close = (): void => {
    question.value = undefined;
  };
  const run = async (): Promise<void> => {
    busy.value = true;
    fault.value = undefined;
    try {
      await current.run();
      if (question.value === current) close();
    } catch (error) {
      fault.value = error;
    } finally {
      busy.value = false;
    }
  };
  return (
    <Dialog title={current.title} onClose={close}>
      <div class="stack">
        <div>{current.consequence}</div>
        {fault.value !== undefined && <FaultNotice error={fault.value} />}
      </div>
      <div class="dialog-actions">
        <Button variant="quiet" onClick={close}>
          {t.value.cancel}
        </Button>
        <Button variant="danger" busy={busy.value} onClick={() => void run()}>
          {current.action}
        </Button>
      </div>
    </Dialog>
  );
}
