import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { LinkButton } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { Icon } from "../../components/icon.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/overview.ts";
import pt from "../../dictionary/pt/overview.ts";
import { client } from "../../shell/client.ts";
import { href } from "../../shell/place.ts";
import { signedIn } from "../../shell/session.ts";
import { useData } from "../../shell/use-data.ts";
import { hasOpenedPhone, rememberedNumber } from "../phone/phone-number.ts";

const t = dictionary({ en, pt });

interface Step {
  readonly title: string;
  readonly help: string;
  readonly done: boolean;
  readonly action: ComponentChildren;
}

/** First steps of a new user. Hidden once there is a call, except for a user who has just placed it from here. */
export function FirstSteps() {
  const instances = useData(
    (signal) => client.instances.page({ limit: 100 }, { signal }),
    ({ type }) => type.startsWith("instance."),
  );
  const calls = useData(
    (signal) => client.calls.page({ limit: 1 }, { signal }),
    ({ type }) => type === "queued",
  );
  const opened = useOpenedPhone();
  const isNew = useRef(false);
  const owned = instances.value.value?.items;
  const placed = calls.value.value?.items;
  if (owned === undefined || placed === undefined) return null;
  if (placed.length === 0) isNew.current = true;
  if (!isNew.current) return null;

  const texts = t.value.steps;
  const simulator = signedIn.value?.simulator ?? false;
  const active = owned.find(({ status }) => status === "ACTIVE");
  const number = encodeURIComponent(rememberedNumber());
  const from = active === undefined ? "" : `&instance=${active.id}`;
  const link: Step = {
    title: simulator ? texts.link.title : texts.link.titleOther,
    help: simulator ? texts.link.help : texts.link.helpOther,
    done: active !== undefined,
    action: (
      <LinkButton look={active ? "quiet" : undefined} to={href(owned.length === 0 ? "/instances?new=1" : "/instances")}>
        {owned.length === 0 ? texts.link.action : texts.link.open}
      </LinkButton>
    ),
  };
  const phone: Step = {
    ...texts.phone,
    done: opened,
    action: (
      <LinkButton
        look={link.done && !opened ? undefined : "quiet"}
        icon="external"
        newTab
        to={href(`/phone?number=${number}`)}
      >
        {texts.phone.action}
      </LinkButton>
    ),
  };
  const call: Step = {
    title: texts.call.title,
    help: simulator ? texts.call.help : texts.call.helpOther,
    done: placed.length > 0,
    action: (
      <LinkButton
        look={link.done && (opened || !simulator) && placed.length === 0 ? undefined : "quiet"}
        to={href(simulator ? `/calls/new?to=${number}${from}` : "/calls/new")}
      >
        {texts.call.action}
      </LinkButton>
    ),
  };
  const steps = simulator ? [link, phone, call] : [link, call];
  return (
    <Card title={texts.title}>
      <ol class="first-steps">
        {steps.map(({ title, help, done, action }, index) => (
          <li key={title} class={done ? "first-step first-step-done" : "first-step"}>
            <span class="first-step-mark">
              {done ? <Icon name="check" size={18} /> : <span aria-hidden="true">{index + 1}</span>}
            </span>
            <h3>
              {title}
              {done && <span class="visually-hidden"> ({texts.done})</span>}
            </h3>
            <p>{help}</p>
            {action}
          </li>
        ))}
      </ol>
      {signedIn.value?.accounts && steps.every(({ done }) => done) && (
        <p class="first-steps-end">
          {texts.end} <a href={href("/tokens")}>{texts.endAction}</a>
        </p>
      )}
    </Card>
  );
}

/** True if a phone was opened in this browser, in another tab too. */
function useOpenedPhone(): boolean {
  const opened = useSignal(hasOpenedPhone());
  useEffect(() => {
    const look = (): void => {
      opened.value = hasOpenedPhone();
    };
    addEventListener("storage", look);
    return () => removeEventListener("storage", look);
  }, []);
  return opened.value;
}
