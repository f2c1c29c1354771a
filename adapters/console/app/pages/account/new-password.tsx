import type { Signal } from "@preact/signals";
import { SignalField } from "../../components/field.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/sign-in.ts";
import pt from "../../dictionary/pt/sign-in.ts";

const t = dictionary({ en, pt });

/** Field for a new password. The server checks its length. */
export function NewPassword({ label, value }: { readonly label: string; readonly value: Signal<string> }) {
  return (
    <SignalField
      label={label}
      hint={t.value.passwordHint}
      type="password"
      autocomplete="new-password"
      required
      signal={value}
    />
  );
}
