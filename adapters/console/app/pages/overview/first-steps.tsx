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
import { hasOpenedPhone, rememberedNumber } from "../phone/remembered-number.ts";

const t = dictionary({ en, pt });

interface Step {
  readonly title: string;
  readonly help: string;
  readonly isDone: boolean;
  readonly action: ComponentChildren;
}

/** First steps for a new user. Hidden if there are calls when the page is loaded. */
export function FirstSteps() {
  const instances = useData(
    (signal) => client.instances.page({ limit: 100 }, { signal }),
    ({ type }) => type.startsWith("instance."),
  );
  const calls = useData(
    (signal) => client.calls.page({ limit: 1 }, { signal }),
    ({ type }) => type === "queued",
  );
  const isPhoneOpen = useOpenedPhone();
  const isNew = useRef(false);
  const instanceList = instances.value.value?.items;
  const latestCalls = calls.value.value?.items;
  if (instanceList === undefined || latestCalls === undefined) return null;
  if (latestCalls.length === 0) isNew.current = true;
  if (!isNew.current) return null;

  const texts = t.value.steps;
  const hasSimulator = signedIn.value?.simulator ?? false;
  const activeInstance = instanceList.find(({ status }) => status === "ACTIVE");
  const number = encodeURIComponent(rememberedNumber());
  const from = activeInstance === undefined ? "" : `&instance=${activeInstance.id}`;
  const link: Step = {
    title: hasSimulator ? texts.link.title : texts.link.titleOther,
    help: hasSimulator ? texts.link.help : texts.link.helpOther,
    isDone: activeInstance !== undefined,
    action: (
      <LinkButton
        variant={activeInstance ? "quiet" : undefined}
        to={href(instanceList.length === 0 ? "/instances?new=1" : "/instances")}
      >
        {instanceList.length === 0 ? texts.link.action : texts.link.open}
      </LinkButton>
    ),
  };
  const phone: Step = {
    ...texts.phone,
    isDone: isPhoneOpen,
    action: (
      <LinkButton
        variant={link.isDone && !isPhoneOpen ? undefined : "quiet"}
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
    help: hasSimulator ? texts.call.help : texts.call.helpOther,
    isDone: latestCalls.length > 0,
    action: (
      <LinkButton
        variant={link.isDone && (isPhoneOpen || !hasSimulator) && latestCalls.length === 0 ? undefined : "quiet"}
        to={href(hasSimulator ? `/calls/new?to=${number}${from}` : "/calls/new")}
      >
        {texts.call.action}
      </LinkButton>
    ),
  };
  const steps = hasSimulator ? [link, phone, call] : [link, call];
  return (
    <Card title={texts.title}>
      <ol class="first-steps">
        {steps.map(({ title, help, isDone, action }, index) => (
          <li key={title} class={isDone ? "first-step first-step-done" : "first-step"}>
            <span class="first-step-mark">
              {isDone ? <Icon name="check" size={18} /> : <span aria-hidden="true">{index + 1}</span>}
            </span>
            <h3>
              {title}
              {isDone && <span class="visually-hidden"> ({texts.done})</span>}
            </h3>
            <p>{help}</p>
            {action}
          </li>
        ))}
      </ol>
      {signedIn.value?.accounts && steps.every(({ isDone }) => isDone) && (
        <p class="first-steps-end">
          {texts.end} <a href={href("/tokens")}>{texts.endAction}</a>
        </p>
      )}
    </Card>
  );
}

/** True once a phone has been opened in one of this browser's tabs. */
function useOpenedPhone(): boolean {
  const isOpen = useSignal(hasOpenedPhone());
  useEffect(() => {
    const update = (): void => {
      isOpen.value = hasOpenedPhone();
    };
    addEventListener("storage", update);
    return () => removeEventListener("storage", update);
  }, []);
  return isOpen.value;
}
