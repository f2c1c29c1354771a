import type { Instance } from "../../../../../src/client/index.ts";
import { LinkButton } from "../../components/button.tsx";
import { Choice } from "../../components/field.tsx";
import { Loaded } from "../../components/waiting.tsx";
import { client } from "../../shell/client.ts";
import { href } from "../../shell/place.ts";
import { type Data, useData } from "../../shell/use-data.ts";
import { spacedNumber } from "../calls/typed-number.ts";
import { newBatchTexts as t } from "./new-batch-texts.ts";

/** Maximum number of instances whose phone numbers are read, each with a separate request. */
const MAX_PHONES = 20;

/** The instances that place the calls, each with its number and state. */
export function NumbersField({
  instances,
  selectedIds,
  onChange,
  fault,
}: {
  readonly instances: Data<readonly Instance[]>;
  readonly selectedIds: readonly string[];
  readonly onChange: (instanceIds: readonly string[]) => void;
  readonly fault?: string | undefined;
}) {
  const { numbers } = t.value;
  return (
    <Loaded data={instances} lines={2}>
      {(list) =>
        list.length === 0 ? (
          <div class="stack">
            <p>{numbers.empty}</p>
            <div>
              <LinkButton small to={href("/instances")}>
                {numbers.link}
              </LinkButton>
            </div>
          </div>
        ) : (
          <fieldset class="choices">
            <legend class="visually-hidden">{numbers.title}</legend>
            {list.map((instance) => (
              <NumberChoice
                key={instance.id}
                instance={instance}
                hasPhone={list.length <= MAX_PHONES}
                checked={selectedIds.includes(instance.id)}
                onChange={(isChosen) =>
                  onChange(
                    isChosen ? [...selectedIds, instance.id] : selectedIds.filter((other) => other !== instance.id),
                  )
                }
              />
            ))}
            <p class="field-hint small quiet">{numbers.hint}</p>
            {fault !== undefined && (
              <p class="fault" role="alert">
                {fault}
              </p>
            )}
          </fieldset>
        )
      }
    </Loaded>
  );
}

function NumberChoice({
  instance: { id, name, status },
  hasPhone,
  checked,
  onChange,
}: {
  readonly instance: Instance;
  readonly hasPhone: boolean;
  readonly checked: boolean;
  readonly onChange: (isChosen: boolean) => void;
}) {
  const { numbers } = t.value;
  // The list of instances has no phone numbers.
  const details = useData(async (signal) =>
    hasPhone ? client.instances.get(id, { expand: ["connection"], signal }) : undefined,
  );
  const phone = details.value.value?.connection?.phone;
  const state = status === "CREATED" ? numbers.unlinked : status === "CONFIGURED" ? numbers.offline : undefined;
  return (
    <Choice
      type="checkbox"
      title={name}
      explanation={[phone && spacedNumber(phone), state].filter(Boolean).join(", ") || undefined}
      checked={checked}
      disabled={status === "CREATED" && !checked}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}
