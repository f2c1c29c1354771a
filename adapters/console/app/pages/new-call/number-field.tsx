import { Button, LinkButton } from "../../components/button.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/new-call.ts";
import pt from "../../dictionary/pt/new-call.ts";
import { href } from "../../shell/place.ts";
import { signedIn } from "../../shell/session.ts";
import { phoneNumberOf, spacedNumber } from "../calls/typed-number.ts";
import { TextField } from "./form-field.tsx";
import type { FormState } from "./form-state.ts";

const t = dictionary({ en, pt });

/** The number to call and, on a simulated network, the number plan and a link to a phone in the browser. */
export function NumberField({ state }: { readonly state: FormState }) {
  const { to, plan } = t.value;
  const number = phoneNumberOf(state.form.value.phoneNumber);
  const isNumber = /^\+\d{7,15}$/.test(number);
  return (
    <>
      <TextField
        state={state}
        name="phoneNumber"
        field="/target/phoneNumber"
        label={to.number}
        hint={Object.hasOwn(plan, number) ? `${spacedNumber(number)}: ${plan[number as keyof typeof plan]}.` : to.hint}
        type="tel"
        inputMode="tel"
        autoComplete="off"
        placeholder="+12025550100"
      />
      {signedIn.value?.simulator && (
        <>
          {isNumber && (
            <div class="row">
              <LinkButton
                small
                variant="quiet"
                icon="external"
                newTab
                to={href(`/phone?number=${encodeURIComponent(number)}`)}
              >
                {to.openPhone}
              </LinkButton>
              <span class="quiet small">{to.openPhoneText}</span>
            </div>
          )}
          <details class="more">
            <summary>{to.plan}</summary>
            <p class="quiet small">{to.planText}</p>
            <ul class="number-plan">
              {Object.entries(plan).map(([plannedNumber, behaviour]) => (
                <li key={plannedNumber}>
                  <Button
                    small
                    variant="plain"
                    label={to.use(`${spacedNumber(plannedNumber)}, ${behaviour}`)}
                    onClick={() => state.edit({ phoneNumber: plannedNumber })}
                  >
                    <span class="number">{spacedNumber(plannedNumber)}</span>
                  </Button>
                  <span>{behaviour}</span>
                </li>
              ))}
            </ul>
          </details>
        </>
      )}
    </>
  );
}
