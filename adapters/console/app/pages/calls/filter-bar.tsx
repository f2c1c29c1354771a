import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Instance } from "../../../../../src/client/index.ts";
import { CALL_TYPES, type CallStatus } from "../../../../../src/domain/calls/call.ts";
import { Button } from "../../components/button.tsx";
import { Field, LabelledInput, Select } from "../../components/field.tsx";
import { callTypes } from "../../dictionary/call-types.ts";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/calls.ts";
import enFaults from "../../dictionary/en/form-faults.ts";
import pt from "../../dictionary/pt/calls.ts";
import ptFaults from "../../dictionary/pt/form-faults.ts";
import { type CallListFilter, isFiltered, targetPhoneIn } from "./call-filter.ts";

const t = dictionary({ en, pt });
const faults = dictionary({ en: enFaults, pt: ptFaults });

const GROUPS: Readonly<Record<"all" | "active" | "completed" | "failed", readonly CallStatus[] | undefined>> = {
  all: undefined,
  active: ["QUEUED", "RINGING", "IN_PROGRESS"],
  completed: ["COMPLETED"],
  failed: ["FAILED"],
};

/** The filter for the list of calls. */
export function FilterBar({
  filter,
  instances,
  onChange,
}: {
  readonly filter: CallListFilter;
  readonly instances: readonly Instance[];
  readonly onChange: (filter: CallListFilter) => void;
}) {
  const { filters } = t.value;
  const { statuses, type, instanceId, reference, targetPhone, from, to } = filter;
  const set = (change: Partial<CallListFilter>): void => onChange({ ...filter, ...change });
  const extraFilters = { type, instanceId, reference, targetPhone, from, to };
  const isOpen = isFiltered(extraFilters);
  return (
    <div class="stack-s stack">
      <div class="row row-apart">
        <fieldset class="segments">
          <legend class="visually-hidden">{filters.statuses}</legend>
          {Object.entries(GROUPS).map(([name, group]) => (
            <label key={name}>
              <input
                type="radio"
                name="statuses"
                checked={String(statuses) === String(group)}
                onChange={() => set({ statuses: group })}
              />
              <span>{filters[name as keyof typeof GROUPS]}</span>
            </label>
          ))}
        </fieldset>
        {isFiltered(filter) && (
          <Button small variant="plain" icon="close" onClick={() => onChange({})}>
            {filters.clear}
          </Button>
        )}
      </div>
      <details class="more" open={isOpen || undefined}>
        <summary>{filters.more}</summary>
        <div class="filters">
          <Select
            label={filters.instance}
            value={instanceId ?? ""}
            options={[
              { value: "", text: filters.anyInstance },
              ...instances.map(({ id, name }) => ({ value: id, text: name })),
              ...(instanceId && !instances.some(({ id }) => id === instanceId)
                ? [{ value: instanceId, text: instanceId }]
                : []),
            ]}
            onChange={(id) => set({ instanceId: id || undefined })}
          />
          <Select
            label={filters.type}
            value={type ?? ""}
            options={[
              { value: "" as const, text: filters.anyType },
              ...CALL_TYPES.map((callType) => ({ value: callType, text: callTypes[callType].value.name })),
            ]}
            onChange={(value) => set({ type: value === "" ? undefined : value })}
          />
          <TextFilter
            label={filters.number}
            hint={filters.numberHint}
            value={targetPhone}
            parse={targetPhoneIn}
            onChange={(value) => set({ targetPhone: value })}
          />
          <TextFilter label={filters.reference} value={reference} onChange={(value) => set({ reference: value })} />
          <Field
            type="date"
            label={filters.from}
            value={from ?? ""}
            onInput={(value) => set({ from: value || undefined })}
          />
          <Field type="date" label={filters.to} value={to ?? ""} onInput={(value) => set({ to: value || undefined })} />
        </div>
      </details>
    </div>
  );
}

/** A text filter that is applied with Enter, or when the field loses the focus. */
function TextFilter({
  label,
  hint,
  value,
  parse = (text) => text,
  onChange,
}: {
  readonly label: string;
  readonly hint?: string;
  readonly value: string | undefined;
  /** Parses the text; undefined marks it as invalid. */
  readonly parse?: (text: string) => string | undefined;
  readonly onChange: (value: string | undefined) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  const isInvalid = useSignal(false);
  useEffect(() => {
    if (input.current) input.current.value = value ?? "";
    isInvalid.value = false;
  }, [value]);
  const applyText = (inputText: string): void => {
    const text = inputText.trim();
    const next = text === "" ? undefined : parse(text);
    isInvalid.value = text !== "" && next === undefined;
    if (!isInvalid.value) onChange(next);
  };
  const fault = isInvalid.value ? faults.value.phone_number_invalid : undefined;
  return (
    <LabelledInput label={label} hint={hint} fault={fault}>
      {(inputAttributes) => (
        <input
          {...inputAttributes}
          ref={input}
          autoComplete="off"
          onChange={(event) => applyText(event.currentTarget.value)}
        />
      )}
    </LabelledInput>
  );
}
