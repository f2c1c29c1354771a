import { useEffect } from "preact/hooks";
import type { Instance } from "../../../../../src/client/index.ts";
import { LinkButton } from "../../components/button.tsx";
import { Labelled } from "../../components/field.tsx";
import { Notice } from "../../components/notice.tsx";
import { Loaded } from "../../components/waiting.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/new-call.ts";
import pt from "../../dictionary/pt/new-call.ts";
import { client } from "../../shell/client.ts";
import { href } from "../../shell/place.ts";
import { type Data, useData } from "../../shell/use-data.ts";
import { spacedNumber } from "../calls/phone-number.ts";
import { faultAt } from "./form-field.tsx";
import type { FormState } from "./form-state.ts";

const t = dictionary({ en, pt });

/** The instance that calls: an instance that can call, or the fix if none can. */
export function InstanceField({
  state,
  instances,
}: {
  readonly state: FormState;
  readonly instances: Data<readonly Instance[]>;
}) {
  return (
    <Loaded data={instances} lines={2}>
      {(all) => <Picker state={state} instances={all} />}
    </Loaded>
  );
}

function Picker({ state, instances }: { readonly state: FormState; readonly instances: readonly Instance[] }) {
  const { from } = t.value;
  const able = instances.filter(({ status }) => status === "ACTIVE");
  const idle = instances.filter(({ status }) => status !== "ACTIVE");
  const { instanceId } = state.form.value;
  const [only] = able;
  useEffect(() => {
    if (instanceId === "" && only && able.length === 1) state.edit({ instanceId: only.id });
  }, [only?.id, able.length]);
  if (able.length === 0)
    return (
      <Notice tone="warn">
        <strong>{from.none}</strong>
        <p>{from.noneText}</p>
        <Idle instances={idle} />
        <div>
          <LinkButton small to={href("/instances")}>
            {from.link}
          </LinkButton>
        </div>
      </Notice>
    );
  return (
    <>
      <Labelled label={from.instance} hint={from.hint} fault={faultAt(state, "/instanceId")}>
        {(tied) => (
          <select
            {...tied}
            value={instanceId}
            onChange={(event) => state.edit({ instanceId: event.currentTarget.value })}
          >
            <option value="">{from.choose}</option>
            {able.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
            {idle.map(({ id, name, status }) => (
              <option key={id} value={id} disabled>
                {`${name} (${status === "CREATED" ? from.created : from.configured})`}
              </option>
            ))}
          </select>
        )}
      </Labelled>
      {instanceId !== "" && <ActiveCall key={instanceId} instanceId={instanceId} />}
    </>
  );
}

/** Reasons why the other instances cannot call, each with a link to its page. */
function Idle({ instances }: { readonly instances: readonly Instance[] }) {
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

/** The call that the instance is on: without a queue, the server returns it and places no other call. */
function ActiveCall({ instanceId }: { readonly instanceId: string }) {
  const instance = useData(
    (signal) => client.instances.get(instanceId, { signal }),
    ({ instance_id, type }) => instance_id === instanceId && ["queued", "completed", "failed"].includes(type),
  );
  const [active] = instance.value.value?.callQueue ?? [];
  if (!active) return null;
  const { from } = t.value;
  return (
    <Notice tone="warn">
      <p>{from.active(spacedNumber(active.target_phone))}</p>
      <div>
        <LinkButton small look="quiet" to={href(`/calls/${active.id}`)}>
          {from.showActive}
        </LinkButton>
      </div>
    </Notice>
  );
}
