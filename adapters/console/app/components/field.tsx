import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren, InputHTMLAttributes, TargetedEvent } from "preact";
import { useId } from "preact/hooks";

interface FieldProps {
  readonly label: string;
  /** Help that is always visible. */
  readonly hint?: ComponentChildren;
  /** Fault of the value. */
  readonly fault?: string | undefined;
}

/** The attributes that tie an input to its label, hint and fault. */
interface InputAttributes {
  readonly id: string;
  readonly class: string;
  readonly "aria-invalid": boolean;
  readonly "aria-describedby": string | undefined;
}

/** A label, a hint and a fault around any input: `<LabelledInput label="Text">{(inputAttributes) => <textarea {...inputAttributes} />}</LabelledInput>`. */
export function LabelledInput({
  label,
  hint,
  fault,
  children,
}: FieldProps & { readonly children: (inputAttributes: InputAttributes) => ComponentChildren }) {
  const id = useId();
  const descriptions = [hint !== undefined && `${id}-hint`, fault !== undefined && `${id}-fault`]
    .filter(Boolean)
    .join(" ");
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        class: "input",
        "aria-invalid": fault !== undefined,
        "aria-describedby": descriptions === "" ? undefined : descriptions,
      })}
      {hint !== undefined && (
        <div class="field-hint" id={`${id}-hint`}>
          {hint}
        </div>
      )}
      <InputFault id={id} fault={fault} />
    </div>
  );
}

/** The fault of the input with this id. */
export function InputFault({ id, fault }: { readonly id: string; readonly fault: string | undefined }) {
  if (fault === undefined) return null;
  return (
    <div class="field-fault" id={`${id}-fault`}>
      {fault}
    </div>
  );
}

/** A field for a file that is dropped or chosen. The ids of its hint and fault start with `id`. */
export function FileDrop({
  id,
  text,
  accept,
  fault,
  isNameless = false,
  onFile,
}: {
  readonly id: string;
  readonly text: string;
  readonly accept: string;
  readonly fault: string | undefined;
  /** True to hide the text that no file is chosen. */
  readonly isNameless?: boolean;
  readonly onFile: (file: File) => void;
}) {
  const isDragOver = useSignal(false);
  const choose = (file: File | undefined): void => {
    if (file) onFile(file);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is a shortcut for the input inside.
    <div
      class={`drop${isDragOver.value ? " drop-over" : ""}`}
      onDragOver={(event) => {
        event.preventDefault();
        isDragOver.value = true;
      }}
      onDragLeave={() => {
        isDragOver.value = false;
      }}
      onDrop={(event) => {
        event.preventDefault();
        isDragOver.value = false;
        choose(event.dataTransfer?.files[0]);
      }}
    >
      <span class="quiet">{text}</span>
      <input
        id={id}
        class={isNameless ? "nameless" : undefined}
        type="file"
        accept={accept}
        aria-describedby={`${id}-hint${fault === undefined ? "" : ` ${id}-fault`}`}
        aria-invalid={fault !== undefined}
        onChange={(event) => {
          choose(event.currentTarget.files?.[0]);
          event.currentTarget.value = ""; // so that the same file can be chosen again
        }}
      />
    </div>
  );
}

/** Attributes of an input, by their HTML names. */
interface InputProps {
  readonly type?: "text" | "email" | "password" | "tel" | "url" | "search" | "number" | "datetime-local" | "date";
  readonly name?: string;
  readonly autocomplete?: string;
  readonly placeholder?: string;
  readonly inputMode?: "numeric" | "tel" | "decimal";
  readonly required?: boolean;
  readonly disabled?: boolean;
  readonly spellcheck?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly min?: string | number;
  readonly max?: string | number;
  readonly step?: string | number;
  readonly pattern?: string;
  /** The id of a `<datalist>`. */
  readonly list?: string;
}

/** A single-line text field whose value is a signal. */
export function SignalField({ signal, ...field }: FieldProps & InputProps & { readonly signal: Signal<string> }) {
  return (
    <Field
      {...field}
      value={signal.value}
      onInput={(text) => {
        signal.value = text;
      }}
    />
  );
}

/** A single-line text field. */
export function Field({
  label,
  hint,
  fault,
  value,
  onInput,
  ...input
}: FieldProps & InputProps & { readonly value: string; readonly onInput: (value: string) => void }) {
  return (
    <LabelledInput label={label} hint={hint} fault={fault}>
      {(inputAttributes) => {
        // Preact's types require a literal input type.
        const attributes = { ...input, ...inputAttributes } as InputHTMLAttributes<HTMLInputElement>;
        return <input {...attributes} value={value} onInput={(event) => onInput(event.currentTarget.value)} />;
      }}
    </LabelledInput>
  );
}

/** A list from which one value is chosen. */
export function Select<T extends string>({
  label,
  hint,
  fault,
  value,
  options,
  onChange,
}: FieldProps & {
  readonly value: T;
  readonly options: readonly { readonly value: T; readonly text: string }[];
  readonly onChange: (value: T) => void;
}) {
  return (
    <LabelledInput label={label} hint={hint} fault={fault}>
      {(inputAttributes) => (
        <select {...inputAttributes} value={value} onChange={(event) => onChange(event.currentTarget.value as T)}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.text}
            </option>
          ))}
        </select>
      )}
    </LabelledInput>
  );
}

/** A checkbox or a radio button, with an explanation. */
export function Choice({
  title,
  explanation,
  ...input
}: {
  readonly title: string;
  readonly explanation?: string | undefined;
  readonly type: "checkbox" | "radio";
  readonly name?: string;
  readonly checked: boolean;
  readonly disabled?: boolean;
  readonly onChange: (event: TargetedEvent<HTMLInputElement>) => void;
}) {
  return (
    <label class="choice">
      <input {...input} />
      <strong>{title}</strong>
      {explanation !== undefined && <small>{explanation}</small>}
    </label>
  );
}
