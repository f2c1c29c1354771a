import { Notice } from "../../components/notice.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/new-call.ts";
import pt from "../../dictionary/pt/new-call.ts";
import { fieldFaultText } from "./field-fault.ts";
import type { FormState } from "./form-state.ts";

const t = dictionary({ en, pt });

/** The faults that belong to no field in words, and how many fields have one. */
export function FormFaults({ state }: { readonly state: FormState }) {
  const faults = state.faults.value;
  if (faults.size === 0) return null;
  const general = faults.get(undefined) ?? [];
  const fields = faults.size - (general.length > 0 ? 1 : 0);
  return (
    <Notice tone="bad">
      {fields > 0 && <p>{t.value.faults.summary(fields)}</p>}
      {general.map((fault) => (
        <p key={fault.pointer + fault.code}>
          {fault.pointer !== "" && <code>{fault.pointer} </code>}
          {fieldFaultText(fault)}
        </p>
      ))}
    </Notice>
  );
}
