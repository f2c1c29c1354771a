import { LinkButton } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { CodeBlock } from "../../components/copy.tsx";
import { TokenHint } from "../../components/token-hint.tsx";
import { Loaded } from "../../components/waiting.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/phone.ts";
import pt from "../../dictionary/pt/phone.ts";
import { href } from "../../shell/place.ts";
import { signedIn } from "../../shell/session.ts";
import { useInstances } from "../calls/use-instances.ts";
import { curlExample } from "../new-call/call-examples.ts";
import { EMPTY_FORM } from "../new-call/call-form.ts";

const t = dictionary({ en, pt });

/** Instructions for calling this phone, with the console's form or with a command. */
export function FirstCall({ number }: { readonly number: string }) {
  const instances = useInstances();
  const { first } = t.value;
  const url = signedIn.value?.api_url ?? location.origin;
  return (
    <Card title={first.title}>
      <Loaded data={instances}>
        {(list) => {
          const caller = list.find(({ status }) => status === "ACTIVE");
          if (caller === undefined)
            return (
              <div class="stack">
                <p>{first.noInstance}</p>
                <div class="row">
                  <LinkButton variant="quiet" icon="line" to={href("/instances")}>
                    {first.toInstances}
                  </LinkButton>
                </div>
              </div>
            );
          const form = {
            ...EMPTY_FORM,
            instanceId: caller.id,
            phoneNumber: number,
            text: first.text,
            voiceId: first.voice,
          };
          return (
            <div class="stack">
              <p>{first.lead}</p>
              <div class="row">
                <LinkButton
                  variant="quiet"
                  icon="call"
                  newTab
                  to={href(`/calls/new?to=${encodeURIComponent(number)}&instance=${caller.id}`)}
                >
                  {first.form}
                </LinkButton>
              </div>
              <p>{first.program}</p>
              <CodeBlock label={first.curl} code={curlExample(form, url)} />
              <TokenHint text={first.token} link={first.toTokens} />
            </div>
          );
        }}
      </Loaded>
    </Card>
  );
}
