import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { RingportError } from "../../../../src/client/index.ts";
import { Button } from "../components/button.tsx";
import { Card } from "../components/card.tsx";
import { CodeBlock } from "../components/copy.tsx";
import { Notice } from "../components/notice.tsx";
import { PageLayout } from "../components/page.tsx";
import { Tabs } from "../components/tabs.tsx";
import { TokenHint } from "../components/token-hint.tsx";
import { FaultNotice } from "../components/waiting.tsx";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/new-call.ts";
import pt from "../dictionary/pt/new-call.ts";
import { navigate } from "../shell/place.ts";
import { signedIn } from "../shell/session.ts";
import { useAction } from "../shell/use-action.ts";
import { NoMicrophone } from "./calls/browser-headset.ts";
import { LivePanel } from "./calls/live-panel.tsx";
import type { MicrophoneCall } from "./calls/microphone-call.ts";
import { useInstances } from "./calls/use-instances.ts";
import { ActiveCallNotice } from "./new-call/active-call-notice.tsx";
import { curlExample, typeScriptExample } from "./new-call/call-examples.ts";
import type { CallForm } from "./new-call/call-form.ts";
import { MessageFields } from "./new-call/call-type-fields.tsx";
import { saveForm } from "./new-call/earlier-forms.ts";
import { FaultList } from "./new-call/form-field.tsx";
import { FormState } from "./new-call/form-state.ts";
import { InstanceField } from "./new-call/instance-field.tsx";
import { MoreFields } from "./new-call/more-fields.tsx";
import { NumberField } from "./new-call/number-field.tsx";
import { placeCall, placeStreamCall, type StartedCall } from "./new-call/place-call.ts";
import { readServerLimits, serverLimits } from "./new-call/server-limits.ts";
import { usePrefill } from "./new-call/use-prefill.ts";

const t = dictionary({ en, pt });

/** `/calls/new`: the form that places a call, and then the call itself if it uses the microphone. */
export default function NewCall() {
  const state = useMemo(() => new FormState(serverLimits), []);
  const instances = useInstances();
  const prefill = usePrefill(state);
  const form = useRef<HTMLFormElement>(null);
  const liveCall = useSignal<MicrophoneCall | undefined>(undefined);
  /** The instance's active call, which has prevented a new call. */
  const activeCall = useSignal<StartedCall["call"] | undefined>(undefined);
  const isMicrophoneCall = state.form.value.type === "DYNAMIC_STREAM";
  useEffect(() => void readServerLimits(), []);

  const send = useAction(async () => {
    activeCall.value = undefined;
    if (!state.validate()) return showFault(form.current);
    try {
      const result = isMicrophoneCall ? await placeStreamCall(state) : await placeCall(state);
      if (!result.isNew) {
        activeCall.value = result.call;
        return;
      }
      saveForm(result.call.id, state.form.value);
      if (result.microphoneCall) liveCall.value = result.microphoneCall;
      else navigate(`/calls/${result.call.id}`);
    } catch (error) {
      if (!(error instanceof RingportError && error.status >= 400 && error.status < 500)) throw error;
      state.showServerFaults(error);
      showFault(form.current);
    }
  });

  if (liveCall.value)
    return (
      <PageLayout title={t.value.title}>
        <div class="measure">
          <LivePanel
            call={liveCall.value}
            onClose={() => {
              liveCall.value = undefined;
            }}
          />
        </div>
      </PageLayout>
    );

  const { from, to, message, stream } = t.value;
  const fault = send.fault;
  return (
    <PageLayout title={t.value.title} lead={t.value.lead}>
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
          {prefill.value && (
            <Notice tone={prefill.value === "failed" ? "warn" : "info"}>{t.value.again[prefill.value]}</Notice>
          )}
          <Card title={from.title}>
            <InstanceField state={state} instances={instances} />
          </Card>
          <Card title={to.title}>
            <div class="stack">
              <NumberField state={state} />
            </div>
          </Card>
          <Card title={message.title}>
            <MessageFields state={state} limits={serverLimits.value} />
          </Card>
          <Card>
            <MoreFields state={state} />
          </Card>
          <FormFaults state={state} />
          {fault instanceof NoMicrophone ? (
            <Notice tone="bad">{stream[fault.fault]}</Notice>
          ) : (
            fault !== undefined && <FaultNotice error={fault} />
          )}
          {activeCall.value && (
            <ActiveCallNotice call={activeCall.value} onHungUp={() => (activeCall.value = undefined)} />
          )}
          <div class="row">
            <Button icon="call" busy={send.busy}>
              {send.busy ? t.value.placing : isMicrophoneCall ? t.value.placeAndTalk : t.value.place}
            </Button>
          </div>
        </form>
        <Examples form={state.form.value} />
      </div>
    </PageLayout>
  );
}

/** Scrolls to the first invalid field, even inside collapsed options. */
function showFault(form: HTMLFormElement | null): void {
  requestAnimationFrame(() => {
    const field = form?.querySelector<HTMLElement>('[aria-invalid="true"]');
    field?.closest("details")?.setAttribute("open", "");
    field?.focus();
  });
}

/** The form's request, to copy into a terminal or a program. */
function Examples({ form }: { readonly form: CallForm }) {
  const { examples } = t.value;
  const url = signedIn.value?.api_url ?? location.origin;
  return (
    <Card title={examples.title}>
      <div class="stack">
        <Tabs
          label={examples.label}
          tabs={[
            {
              name: examples.curl,
              content: () => <CodeBlock label={examples.curl} code={curlExample(form, url)} />,
            },
            {
              name: examples.typescript,
              content: () => <CodeBlock label={examples.typescript} code={typeScriptExample(form, url)} />,
            },
          ]}
        />
        <TokenHint text={examples.hint} link={examples.tokens} />
      </div>
    </Card>
  );
}

/** The faults without a field as text, and the number of invalid fields. */
function FormFaults({ state }: { readonly state: FormState }) {
  const faults = state.faults.value;
  if (faults.size === 0) return null;
  const formFaults = faults.get(undefined) ?? [];
  const fieldCount = faults.size - (formFaults.length > 0 ? 1 : 0);
  return (
    <Notice tone="bad">
      {fieldCount > 0 && <p>{t.value.faults.summary(fieldCount)}</p>}
      <FaultList faults={formFaults} />
    </Notice>
  );
}
