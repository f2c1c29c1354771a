import type { CreatedCall } from "../../../../../src/client/index.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { Notice } from "../../components/notice.tsx";
import { FaultNotice } from "../../components/waiting.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/new-call.ts";
import pt from "../../dictionary/pt/new-call.ts";
import { client } from "../../shell/client.ts";
import { href } from "../../shell/place.ts";
import { useAction } from "../../shell/use-action.ts";
import { spacedNumber } from "../calls/typed-number.ts";

const t = dictionary({ en, pt });

/**
 * Reports that no call has been placed because the instance already has an active call.
 * @param onHungUp called after the active call has been hung up
 */
export function ActiveCallNotice({ call, onHungUp }: { readonly call: CreatedCall; readonly onHungUp: () => void }) {
  const { active } = t.value;
  const hangUp = useAction(async () => {
    await client.calls.hangUp(call.id).catch((error: unknown) => {
      if ((error as { status?: unknown }).status !== 404) throw error; // the call has already ended
    });
    onHungUp();
  });
  return (
    <Notice tone="warn">
      <strong>{active.title}</strong>
      <p>
        {active.text(spacedNumber(call.target_phone))} <code>RINGPORT_QUEUE=fifo</code>
      </p>
      <div class="row">
        <LinkButton small variant="quiet" to={href(`/calls/${call.id}`)}>
          {active.show}
        </LinkButton>
        <Button small variant="danger" icon="hangup" busy={hangUp.busy} onClick={() => hangUp.start()}>
          {active.hangUp}
        </Button>
      </div>
      {hangUp.fault !== undefined && <FaultNotice error={hangUp.fault} />}
    </Notice>
  );
}
