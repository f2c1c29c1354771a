import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { SignalField } from "../components/field.tsx";
import { Notice } from "../components/notice.tsx";
import { PageLayout } from "../components/page.tsx";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/phone.ts";
import pt from "../dictionary/pt/phone.ts";
import { changeQuery, query } from "../shell/place.ts";
import { signedIn } from "../shell/session.ts";
import { Phone } from "./phone/phone.ts";
import { PhoneScreen } from "./phone/phone-screen.tsx";
import { numberFrom, rememberedNumber, rememberNumber } from "./phone/remembered-number.ts";

const t = dictionary({ en, pt });

/** `/phone?number=+12025550147`: a simulated network's phone in this tab. */
export default function PhoneView() {
  const number = numberFrom(query.value.get("number") ?? "");
  const hasSimulator = signedIn.value?.simulator ?? true;
  return (
    <PageLayout title={t.value.title} lead={number === undefined ? t.value.lead : undefined}>
      {!hasSimulator && <Notice tone="warn">{t.value.noSimulator}</Notice>}
      {hasSimulator && number === undefined && <NumberChooser />}
      {hasSimulator && number !== undefined && <OpenPhone key={number} number={number} />}
    </PageLayout>
  );
}

/**
 * A form for the phone's number. Submitting it also enables sound: browsers play none until the user has interacted
 * with the page.
 */
function NumberChooser() {
  const input = useSignal(query.value.get("number") ?? rememberedNumber());
  const isSubmitted = useSignal(query.value.has("number"));
  const number = numberFrom(input.value);
  return (
    <form
      class="stack measure"
      onSubmit={(event) => {
        event.preventDefault();
        isSubmitted.value = true;
        if (number !== undefined) changeQuery({ number });
      }}
    >
      <SignalField
        label={t.value.choose}
        hint={t.value.chooseHint}
        fault={isSubmitted.value && number === undefined ? t.value.wrongNumber : undefined}
        type="tel"
        inputMode="tel"
        autocomplete="off"
        required
        signal={input}
      />
      <div class="row">
        <Button icon="line">{t.value.open}</Button>
      </div>
    </form>
  );
}

function OpenPhone({ number }: { readonly number: string }) {
  const phone = useMemo(() => new Phone(number), [number]);
  useEffect(() => {
    rememberNumber(number);
    return () => phone.close();
  }, [phone]);
  return <PhoneScreen phone={phone} number={number} />;
}
