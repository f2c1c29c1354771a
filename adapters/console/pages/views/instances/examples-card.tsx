import type { InstanceDetails } from "../../../../../src/client/index.ts";
import { Card } from "../../components/card.tsx";
import { CodeBlock } from "../../components/copy.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { TokenHint } from "../../components/token-hint.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/instances.ts";
import pt from "../../dictionary/pt/instances.ts";
import { session } from "../../shell/session.ts";
import { curlExample, typeScriptExample } from "../calls/call-examples.ts";
import { EMPTY_FORM } from "../calls/call-form.ts";

const t = dictionary({ en, pt });

/** The number in a program of one's own. */
export function ExamplesCard({ instance: { id } }: { readonly instance: InstanceDetails }) {
  const { use } = t.value;
  const url = session.value?.api_url ?? location.origin;
  const form = { ...EMPTY_FORM, instanceId: id, phoneNumber: "+12025550100", text: use.text, voiceId: use.voice };
  return (
    <Card title={use.title}>
      <div class="stack">
        <Tabs
          label={use.label}
          tabs={[
            { name: use.curl, content: () => <CodeBlock label={use.curl} code={curlExample(form, url)} /> },
            {
              name: use.typescript,
              content: () => <CodeBlock label={use.typescript} code={typeScriptExample(form, url)} />,
            },
          ]}
        />
        <TokenHint text={use.hint} link={use.tokens} />
        <p class="quiet small">{use.demo}</p>
      </div>
    </Card>
  );
}
