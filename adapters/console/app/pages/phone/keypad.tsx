import { useEffect, useRef } from "preact/hooks";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/phone.ts";
import pt from "../../dictionary/pt/phone.ts";

const t = dictionary({ en, pt });

const KEYS = [..."123456789*0#"];

/** A phone's keys, which also respond to the keyboard. */
export function Keypad({ press }: { readonly press: (digit: string) => void }) {
  const keys = useRef<HTMLFieldSetElement>(null);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || !KEYS.includes(event.key)) return;
      if (event.target instanceof HTMLInputElement) return;
      press(event.key);
      const key = keys.current?.children[KEYS.indexOf(event.key)];
      key?.animate?.([{ filter: "brightness(0.8)" }, { filter: "none" }], 200);
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
  return (
    <fieldset class="phone-keys" aria-label={t.value.keypad} ref={keys}>
      {KEYS.map((digit) => (
        <button key={digit} type="button" aria-label={t.value.key(digit)} onClick={() => press(digit)}>
          {digit}
        </button>
      ))}
    </fieldset>
  );
}
