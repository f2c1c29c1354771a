import type { InstanceDetails } from "../../../../../src/client/index.ts";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/instances.ts";
import pt from "../../dictionary/pt/instances.ts";
import { client } from "../../shell/client.ts";
import { confirm } from "../../shell/confirm.tsx";
import { toast } from "../../shell/toasts.tsx";

const t = dictionary({ en, pt });

/** Unlinks an instance's phone, so that another one can be linked. */
export function UnlinkCard({
  instance,
  reload,
}: {
  readonly instance: InstanceDetails;
  /** Called when the phone has been unlinked. */
  readonly reload: () => Promise<unknown>;
}) {
  const { unlink } = t.value;
  return (
    <Card title={unlink.title}>
      <div class="stack">
        <p class="measure">{unlink.text}</p>
        <div>
          <Button variant="danger" onClick={() => confirmUnlinking(instance, reload)}>
            {unlink.action}
          </Button>
        </div>
      </div>
    </Card>
  );
}

function confirmUnlinking({ id, name, callQueue, connection }: InstanceDetails, reload: () => Promise<unknown>): void {
  const { unlink, remove } = t.value;
  const phone = connection?.phone ?? null;
  const liveCount = callQueue.filter(({ status }) => status !== "QUEUED").length;
  confirm({
    title: unlink.question(name),
    consequence: (
      <ul>
        {liveCount > 0 && <li>{remove.live(liveCount)}</li>}
        <li>{phone === null ? remove.unlinksUnknown : remove.unlinks(phone)}</li>
        <li>{unlink.waiting}</li>
        <li>{unlink.keeps}</li>
      </ul>
    ),
    action: unlink.action,
    async run() {
      await client.instances.unlink(id);
      await reload();
      toast(t.value.unlink.done(name));
    },
  });
}
