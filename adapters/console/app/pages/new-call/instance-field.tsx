import { useEffect } from "preact/hooks";
import type { Instance } from "../../../../../src/client/index.ts";
import { LinkButton } from "../../components/button.tsx";
import { LabelledInput } from "../../components/field.tsx";
import { Notice } from "../../components/notice.tsx";
import { Loaded } from "../../components/waiting.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/new-call.ts";
import pt from "../../dictionary/pt/new-call.ts";
import { client } from "../../shell/client.ts";
import { href } from "../../shell/place.ts";
import { type Data, useData } from "../../shell/use-data.ts";
import { spacedNumber } from "../calls/typed-number.ts";
import { faultAt } from "./form-field.tsx";
import type { FormState } from "./form-state.ts";

const t = dictionary({ en, pt });

/** Selects the calling instance; explains the fix if no instance can call. */
export function InstanceField({
  state,
  instances,
}: {
  readonly state: FormState;
  readonly instances: Data<readonly Instance[]>;
}) {
  return (
    <Loaded data={instances} lines={2}>
      {(list) => <Picker state={state} instances={list} />}
    </Loaded>
  );
}

function Picker({ state, instances }: { readonly state: FormState; readonly instances: readonly Instance[] }) {
  const { from } = t.value;
  const activeInstances = instances.filter(({ status }) => status === "ACTIVE");
  const inactiveInstances = instances.filter(({ status }) => status !== "ACTIVE");
  const { instanceId } = state.form.value;
  const [first] = activeInstances;
  useEffect(() => {
    if (instanceId === "" && first && activeInstances.length === 1) state.edit({ instanceId: first.id });
  }, [first?.id, activeInstances.length]);
  if (activeInstances.length === 0)
    return (
      <Notice tone="warn">
        <strong>{from.none}</strong>
        <p>{from.noneText}</p>
        <InactiveInstances instances={inactiveInstances} />
        <div>
          <LinkButton small to={href("/instances")}>
            {from.link}
          </LinkButton>
        </div>
      </Notice>
    );
  return (
    <>
      <LabelledInput label={from.instance} hint={from.hint} fault={faultAt(state, "/instanceId")}>
        {(inputAttributes) => (
          <select
            {...inputAttributes}
            value={instanceId}
            onChange={(event) => state.edit({ instanceId: event.currentTarget.value })}
          >
            <option value="">{from.choose}</option>
            {activeInstances.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
            {inactiveInstances.map(({ id, name, status }) => (
              <option key={id} value={id} disabled>
                {`${name} (${status === "CREATED" ? from.created : from.configured})`}
              </option>
            ))}
          </select>
        )}
      </LabelledInput>
      {instanceId !== "" && <ActiveCall key={instanceId} instanceId={instanceId} />}
    </>
  );
}

/** Reasons why the other instances cannot call, each with a link to its page. */
function InactiveInstances({ instances }: { readonly instances: readonly Instance[] }) {
  const { from } = t.value;
  if (instances.length === 0) return null;
  return (
    <>
      <p>{from.idle}</p>
      <ul>
        {instances.slice(0, 5).map(({ id, name, status }) => (
          <li key={id}>
            <a href={href(`/instances/${id}`)}>{name}</a>: {status === "CREATED" ? from.created : from.configured}
          </li>
        ))}
      </ul>
    </>
  );
}

/** The instance's active call: without a queue, the server returns that call and places no other. */
function ActiveCall({ instanceId }: { readonly instanceId: string }) {
  const instance = useData(
    (signal) => client.instances.get(instanceId, { signal }),
    ({ instance_id, type }) => instance_id === instanceId && ["queued", "completed", "failed"].includes(type),
  );
  const [activeCall] = instance.value.value?.callQueue ?? [];
  if (!activeCall) return null;
  const { from } = t.value;
  return (
    <Notice tone="warn">
      <p>{from.active(spacedNumber(activeCall.target_phone))}</p>
      <div>
        <LinkButton small variant="quiet" to={href(`/calls/${activeCall.id}`)}>
          {from.showActive}
        </LinkButton>
      </div>
    </Notice>
  );
}
