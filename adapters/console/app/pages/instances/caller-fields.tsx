import type { Signal } from "@preact/signals";
import type { NetworkView } from "../../../api.ts";
import { Choice, Field } from "../../components/field.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/instances.ts";
import pt from "../../dictionary/pt/instances.ts";
import type { CallerForm } from "./caller-form.ts";

const t = dictionary({ en, pt });

/** Fields for the caller as shown to callees. */
export function CallerFields({
  caller,
  allowedCallers,
}: {
  readonly caller: Signal<CallerForm>;
  readonly allowedCallers: NonNullable<NetworkView["caller_ids"]>;
}) {
  const texts = t.value.caller;
  const { phoneNumber, displayName, withheld } = caller.value;
  const edit = (change: Partial<CallerForm>): void => {
    caller.value = { ...caller.value, ...change };
  };
  return (
    <>
      {allowedCallers.length > 0 && (
        <Field
          label={texts.number}
          hint={allowedCallers === "*" ? texts.numberHint : texts.numberHintOf(allowedCallers.join(", "))}
          type="tel"
          autocomplete="off"
          value={phoneNumber}
          onInput={(value) => edit({ phoneNumber: value })}
        />
      )}
      <Field
        label={texts.displayName}
        hint={texts.displayNameHint}
        autocomplete="off"
        maxLength={80}
        value={displayName}
        onInput={(value) => edit({ displayName: value })}
      />
      <Choice
        type="checkbox"
        title={texts.withheld}
        explanation={texts.withheldText}
        checked={withheld}
        onChange={(event) => edit({ withheld: event.currentTarget.checked })}
      />
    </>
  );
}
