import { useSignal } from "@preact/signals";
import type { InstanceDetails } from "../../../../../src/client/index.ts";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { SignalField } from "../../components/field.tsx";
import { Form } from "../../components/form.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/instances.ts";
import pt from "../../dictionary/pt/instances.ts";
import { client } from "../../shell/client.ts";
import { toast } from "../../shell/toasts.tsx";
import { useAction } from "../../shell/use-action.ts";
import { useData } from "../../shell/use-data.ts";
import { CallerFields } from "./caller-fields.tsx";
import { callerForm, callerOfForm } from "./caller-form.ts";
import { networks } from "./network-list.ts";

const t = dictionary({ en, pt });

/** An instance's name, and the caller of its calls. */
export function SettingsCard({
  instance,
  reload,
}: {
  readonly instance: InstanceDetails;
  readonly reload: () => Promise<void>;
}) {
  const name = useSignal(instance.name);
  const caller = useSignal(callerForm(instance.callerId));
  const networkList = useData(networks).value.value;
  const allowedCallers =
    networkList?.find((network) => network.name === instance.connection?.provider)?.caller_ids ?? null;
  const save = useAction(async () => {
    const callerId = allowedCallers === null ? {} : { callerId: callerOfForm(caller.value) };
    await client.instances.update(instance.id, { name: name.value, ...callerId });
    toast(t.value.settings.saved);
    await reload();
  });
  const { settings } = t.value;
  return (
    <Card title={settings.title}>
      <div class="measure">
        <Form action={save} buttons={<Button busy={save.busy}>{settings.save}</Button>}>
          <SignalField label={settings.name} autocomplete="off" maxLength={120} required signal={name} />
          {allowedCallers !== null && <CallerFields caller={caller} allowedCallers={allowedCallers} />}
          {networkList !== undefined && (
            <p class="quiet small">{allowedCallers === null ? settings.noCaller : settings.laterOnly}</p>
          )}
        </Form>
      </div>
    </Card>
  );
}
