import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { RingportError } from "../../../../src/client/index.ts";
import { Button } from "../components/button.tsx";
import { Card } from "../components/card.tsx";
import { Notice } from "../components/notice.tsx";
import { Page } from "../components/page.tsx";
import { Fault } from "../components/waiting.tsx";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/new-call.ts";
import pt from "../dictionary/pt/new-call.ts";
import { navigate } from "../shell/place.ts";
import { useAction } from "../shell/use-action.ts";
import { ActiveCallNotice } from "./calls/active-call-notice.tsx";
import { NoMicrophone } from "./calls/browser-headset.ts";
import { keepForm } from "./calls/earlier-forms.ts";
import { Examples } from "./calls/examples.tsx";
import { FormFaults } from "./calls/form-notice.tsx";
import { FormState } from "./calls/form-state.ts";
import { InstanceField } from "./calls/instance-field.tsx";
import { LivePanel } from "./calls/live-panel.tsx";
import { MessageFields } from "./calls/message-fields.tsx";
import type { MicrophoneCall } from "./calls/microphone-call.ts";
import { MoreFields } from "./calls/more-fields.tsx";
import { NumberField } from "./calls/number-field.tsx";
import { type Placed, placeCall, placeStreamCall } from "./calls/place-call.ts";
import { readServerLimits, serverLimits } from "./calls/server-limits.ts";
import { useInstances } from "./calls/use-instances.ts";
import { usePrefill } from "./calls/use-prefill.ts";

const t = dictionary({ en, pt });

/** `/calls/new`: the form that places a call, and the call itself if it is one through the microphone. */
export default function NewCall() {
  const state = useMemo(() => new FormState(serverLimits), []);
  const instances = useInstances();
  const prefilled = usePrefill(state);
  const form = useRef<HTMLFormElement>(null);
  const talking = useSignal<MicrophoneCall | undefined>(undefined);
  /** The call that the instance was on, in place of the new one. */
  const active = useSignal<Placed["call"] | undefined>(undefined);
  const isSpoken = state.form.value.type === "DYNAMIC_STREAM";
  useEffect(() => void readServerLimits(), []);

  const send = useAction(async () => {
    active.value = undefined;
    if (!state.attempt()) return showFault(form.current);
    try {
      const placed = isSpoken ? await placeStreamCall(state) : await placeCall(state);
      if (!placed.isNew) {
        active.value = placed.call;
        return;
      }
      keepForm(placed.call.id, state.form.value);
      if (placed.talking) talking.value = placed.talking;
      else navigate(`/calls/${placed.call.id}`);
    } catch (error) {
      if (!(error instanceof RingportError && error.status >= 400 && error.status < 500)) throw error;
      state.refuse(error);
      showFault(form.current);
    }
  });

  if (talking.value)
    return (
      <Page title={t.value.title}>
        <div class="measure">
          <LivePanel
            call={talking.value}
            onOver={() => {
              talking.value = undefined;
            }}
          />
        </div>
      </Page>
    );

  const { from, to, what, stream } = t.value;
  const fault = send.fault;
  return (
    <Page title={t.value.title} lead={t.value.lead}>
      <div class="new-call">
        <form
          ref={form}
          class="stack"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            send.start();
          }}
        >
          {prefilled.value && (
            <Notice tone={prefilled.value === "failed" ? "warn" : "info"}>{t.value.again[prefilled.value]}</Notice>
          )}
          <Card title={from.title}>
            <InstanceField state={state} instances={instances} />
          </Card>
          <Card title={to.title}>
            <div class="stack">
              <NumberField state={state} />
            </div>
          </Card>
          <Card title={what.title}>
            <MessageFields state={state} limits={serverLimits.value} />
          </Card>
          <Card>
            <MoreFields state={state} />
          </Card>
          <FormFaults state={state} />
          {fault instanceof NoMicrophone ? (
            <Notice tone="bad">{stream[fault.fault]}</Notice>
          ) : (
            fault !== undefined && <Fault error={fault} />
          )}
          {active.value && <ActiveCallNotice call={active.value} onOver={() => (active.value = undefined)} />}
          <div class="row">
            <Button icon="call" busy={send.busy}>
              {send.busy ? t.value.placing : isSpoken ? t.value.placeAndTalk : t.value.place}
            </Button>
          </div>
        </form>
        <Examples form={state.form.value} />
      </div>
    </Page>
  );
}

/** Leads to the first field with a fault, also within options that are closed. */
function showFault(form: HTMLFormElement | null): void {
  requestAnimationFrame(() => {
    const field = form?.querySelector<HTMLElement>('[aria-invalid="true"]');
    field?.closest("details")?.setAttribute("open", "");
    field?.focus();
  });
}
