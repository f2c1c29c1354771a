import { useSignal } from "@preact/signals";
import type { TokenScope } from "../../../../../src/domain/access/token-scope.ts";
import type { NewTokenBody, NewTokenView } from "../../../api.ts";
import { Button } from "../../components/button.tsx";
import { Choice, Select, SignalField } from "../../components/field.tsx";
import { Form } from "../../components/form.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/tokens.ts";
import pt from "../../dictionary/pt/tokens.ts";
import { client } from "../../shell/client.ts";
import { consoleApi } from "../../shell/console-api.ts";
import { useAction } from "../../shell/use-action.ts";
import { useData } from "../../shell/use-data.ts";

const t = dictionary({ en, pt });

const SCOPES = ["read", "call", "admin"] as const satisfies readonly TokenScope[];
const DAY_MS = 86_400_000;
/** Possible lifetimes of a token, days; 0 means that it never expires. */
const LIFETIMES = ["0", "7", "30", "90", "365"] as const;

/** The form that creates a token. */
export function NewTokenForm({
  onCreated,
  onCancel,
}: {
  readonly onCreated: (token: NewTokenView) => void;
  readonly onCancel: () => void;
}) {
  const label = useSignal("");
  const hasAllScopes = useSignal(true);
  const selectedScopes = useSignal<readonly TokenScope[]>(["read"]);
  const days = useSignal<(typeof LIFETIMES)[number]>("0");
  const demoInstanceId = useSignal("");
  const instances = useData((signal) => client.instances.page({ limit: 100 }, { signal }));
  const create = useAction(async () => {
    const body: NewTokenBody = {
      label: label.value.trim(),
      ...(!hasAllScopes.value && { scopes: selectedScopes.value }),
      ...(days.value !== "0" && { expires_at: new Date(Date.now() + Number(days.value) * DAY_MS).toISOString() }),
      ...(demoInstanceId.value !== "" && { demo_instance_id: demoInstanceId.value }),
    };
    onCreated(await consoleApi.post<NewTokenView>("tokens", body));
  });
  const texts = t.value.form;
  const toggle = (scope: TokenScope): void => {
    const isSelected = selectedScopes.value.includes(scope);
    selectedScopes.value = SCOPES.filter((candidate) =>
      candidate === scope ? !isSelected : selectedScopes.value.includes(candidate),
    );
  };
  const instanceList = instances.value.value?.items ?? [];
  return (
    <Form
      action={create}
      buttons={
        <>
          <Button busy={create.busy} disabled={!hasAllScopes.value && selectedScopes.value.length === 0}>
            {t.value.create}
          </Button>
          <Button variant="quiet" onClick={onCancel}>
            {texts.cancel}
          </Button>
        </>
      }
    >
      <SignalField label={texts.name} hint={texts.nameHint} required maxLength={100} signal={label} />
      <fieldset class="group">
        <legend>{texts.access}</legend>
        <Choice
          type="radio"
          name="access"
          title={t.value.everything}
          explanation={texts.everythingHelp}
          checked={hasAllScopes.value}
          onChange={() => {
            hasAllScopes.value = true;
          }}
        />
        <Choice
          type="radio"
          name="access"
          title={texts.some}
          explanation={texts.someHelp}
          checked={!hasAllScopes.value}
          onChange={() => {
            hasAllScopes.value = false;
          }}
        />
      </fieldset>
      {!hasAllScopes.value && (
        <fieldset class="group">
          <legend>{texts.scopes}</legend>
          {SCOPES.map((scope) => (
            <Choice
              key={scope}
              type="checkbox"
              title={t.value.scopes[scope].title}
              explanation={t.value.scopes[scope].help}
              checked={selectedScopes.value.includes(scope)}
              onChange={() => toggle(scope)}
            />
          ))}
        </fieldset>
      )}
      <Select
        label={texts.expiry}
        value={days.value}
        options={LIFETIMES.map((value) => ({ value, text: texts.lifetimes[value] }))}
        onChange={(value) => {
          days.value = value;
        }}
      />
      {instanceList.length > 0 && (
        <Select
          label={texts.demo}
          hint={texts.demoHint}
          value={demoInstanceId.value}
          options={[
            { value: "", text: texts.demoNone },
            ...instanceList.map(({ id, name }) => ({ value: id, text: name })),
          ]}
          onChange={(value) => {
            demoInstanceId.value = value;
          }}
        />
      )}
    </Form>
  );
}
