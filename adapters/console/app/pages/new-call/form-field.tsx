import type { ComponentChildren } from "preact";
import { ownMember } from "../../../../../src/base/own-member.ts";
import { Field, LabelledInput, Select } from "../../components/field.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import enFaults from "../../dictionary/en/form-faults.ts";
import en from "../../dictionary/en/new-call.ts";
import { language } from "../../dictionary/language.ts";
import ptFaults from "../../dictionary/pt/form-faults.ts";
import pt from "../../dictionary/pt/new-call.ts";
import type { CallForm, FormField } from "./call-form.ts";
import type { FieldFault } from "./form-faults.ts";
import type { FormState } from "./form-state.ts";

const t = dictionary({ en, pt });
const faultTexts = dictionary({ en: enFaults, pt: ptFaults });

/** Names of the form's text fields. */
export type TextName = { [K in keyof CallForm]: CallForm[K] extends string ? K : never }[keyof CallForm];

interface Props {
  readonly state: FormState;
  readonly name: TextName;
  /** The field's place in the request. */
  readonly field: FormField;
  readonly label: string;
  readonly hint?: ComponentChildren;
}

/** A field's fault, if there is one. */
export function faultAt(state: FormState, field: FormField): string | undefined {
  const [first] = state.faults.value.get(field) ?? [];
  return first && fieldFaultText(first);
}

/** Faults that belong to none of the form's fields. */
export function FaultList({ faults }: { readonly faults: readonly FieldFault[] }) {
  return (
    <>
      {faults.map((fault) => (
        <p key={fault.pointer + fault.code}>
          {fault.pointer !== "" && <code>{fault.pointer} </code>}
          {fieldFaultText(fault)}
        </p>
      ))}
    </>
  );
}

/** A single-line text field in the form. */
export function TextField({
  state,
  name,
  field,
  ...fieldProps
}: Props & {
  readonly type?: "text" | "tel";
  readonly inputMode?: "numeric" | "tel";
  readonly placeholder?: string;
  readonly autoComplete?: string;
}) {
  return (
    <Field
      {...fieldProps}
      value={state.form.value[name]}
      fault={faultAt(state, field)}
      onInput={(value) => state.edit({ [name]: value })}
    />
  );
}

/** A multi-line text field in the form. */
export function TextArea({
  state,
  name,
  field,
  label,
  hint,
  ...textAreaProps
}: Props & { readonly placeholder?: string; readonly rows?: number; readonly spellcheck?: boolean }) {
  return (
    <LabelledInput label={label} hint={hint} fault={faultAt(state, field)}>
      {(inputAttributes) => (
        <textarea
          {...textAreaProps}
          {...inputAttributes}
          value={state.form.value[name]}
          onInput={(event) => state.edit({ [name]: event.currentTarget.value })}
        />
      )}
    </LabelledInput>
  );
}

/** A field in the form for choosing one of several values. */
export function SelectField({
  state,
  name,
  field,
  ...selectProps
}: Props & { readonly options: readonly { readonly value: string; readonly text: string }[] }) {
  return (
    <Select
      {...selectProps}
      value={state.form.value[name] as string}
      fault={faultAt(state, field)}
      onChange={(value) => state.edit({ [name]: value })}
    />
  );
}

/** A field for a call's behaviour if an answering machine answers. */
export function MachineField({
  state,
  field,
}: {
  readonly state: FormState;
  readonly field: "/onMachine" | "/agent/onMachine";
}) {
  const { machine } = t.value;
  return (
    <SelectField
      state={state}
      name="onMachine"
      field={field}
      label={machine.label}
      options={[
        { value: "", text: machine.default },
        { value: "leave_message", text: machine.leave_message },
        { value: "hang_up", text: machine.hang_up },
      ]}
    />
  );
}

/** A field's fault as a sentence: the server's message in English, a translation of its code in other languages. */
function fieldFaultText({ pointer, code, detail }: FieldFault): string {
  const translation = language.value === "en" ? undefined : ownMember(faultTexts.value, code);
  const text = translation ?? sentence(detail);
  const [, line] = /^\/agent\/instructions\/(\d+)$/.exec(pointer) ?? [];
  return line === undefined ? text : t.value.faults.instruction(Number(line) + 1, text);
}

/** Turns a server message, which starts in lower case and has no full stop, into a sentence. */
function sentence(text: string): string {
  const end = /[.!?]$/.test(text) ? "" : ".";
  return text.charAt(0).toUpperCase() + text.slice(1) + end;
}
