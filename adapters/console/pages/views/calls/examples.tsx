import { Card } from "../../components/card.tsx";
import { CodeBlock } from "../../components/copy.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { TokenHint } from "../../components/token-hint.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/new-call.ts";
import pt from "../../dictionary/pt/new-call.ts";
import { session } from "../../shell/session.ts";
import { curlExample, typeScriptExample } from "./call-examples.ts";
import type { CallForm } from "./call-form.ts";

const t = dictionary({ en, pt });

/** The request of a form, to copy into a terminal or a program. */
export function Examples({ form }: { readonly form: CallForm }) {
  const { examples } = t.value;
  const url = session.value?.api_url ?? location.origin;
  return (
    <Card title={examples.title}>
      <div class="stack">
        <Tabs
          label={examples.label}
          tabs={[
            {
              name: examples.curl,
              content: () => <CodeBlock label={examples.curl} code={curlExample(form, url)} />,
            },
            {
              name: examples.typescript,
              content: () => <CodeBlock label={examples.typescript} code={typeScriptExample(form, url)} />,
            },
          ]}
        />
        <TokenHint text={examples.hint} link={examples.tokens} />
      </div>
    </Card>
  );
}
