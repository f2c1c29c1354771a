import type { InstanceDetails } from "../../../../../src/client/index.ts";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/instances.ts";
import pt from "../../dictionary/pt/instances.ts";
import { client } from "../../shell/client.ts";
import { confirm } from "../../shell/confirm.tsx";
import { navigate } from "../../shell/place.ts";
import { toast } from "../../shell/toasts.tsx";

const t = dictionary({ en, pt });

/** Deletes an instance, after a confirmation that lists what is deleted and what stays. */
export function DeleteCard({ instance }: { readonly instance: InstanceDetails }) {
  const { remove } = t.value;
  return (
    <Card title={remove.title}>
      <div class="stack">
        <p class="measure">{remove.text}</p>
        <div>
          <Button variant="danger" icon="trash" onClick={() => confirmDeletion(instance)}>
            {remove.action}
          </Button>
        </div>
      </div>
    </Card>
  );
}

function confirmDeletion({ id, name, status, callQueue, connection }: InstanceDetails): void {
  const { remove } = t.value;
  const phone = connection?.phone ?? null;
  const unlinks = phone === null ? remove.unlinksUnknown : remove.unlinks(phone);
  confirm({
    title: remove.question(name),
    consequence: (
      <ul>
        <li>{callQueue.length === 0 ? remove.noLive : remove.live(callQueue.length)}</li>
        {status !== "CREATED" && <li>{unlinks}</li>}
        <li>{remove.keeps}</li>
        <li>{remove.final}</li>
      </ul>
    ),
    action: remove.action,
    async run() {
      await client.instances.delete(id);
      toast(t.value.remove.done(name));
      navigate("/instances");
    },
  });
}
