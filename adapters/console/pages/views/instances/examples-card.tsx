import type { InstanceDetails } from "../../../../../src/client/index.ts";
import { Card } from "../../components/card.tsx";
import { CodeBlock } from "../../components/copy.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/instances.ts";
import { language } from "../../dictionary/language.ts";
import pt from "../../dictionary/pt/instances.ts";
import { href } from "../../shell/place.ts";
import { session } from "../../shell/session.ts";

const t = dictionary({ en, pt });

/** The number in a program of one's own. */
export function ExamplesCard({ instance: { id } }: { readonly instance: InstanceDetails }) {
  const { use } = t.value;
  const url = session.value?.api_url ?? location.origin;
  const call = {
    instanceId: id,
    type: "FIXED_TTS",
    target: { phoneNumber: "+15550100" },
    tts: { text: use.text, voiceId: language.value === "pt" ? "pt-BR-1" : "en-US-1" },
  };
  return (
    <Card title={use.title}>
      <div class="stack">
        <Tabs
          label={use.label}
          tabs={[
            { name: use.curl, content: () => <CodeBlock label={use.curl} code={curlOf(url, call)} /> },
            { name: use.typescript, content: () => <CodeBlock label={use.typescript} code={programOf(url, call)} /> },
          ]}
        />
        <p class="quiet small">
          {use.hint} <a href={href("/tokens")}>{use.tokens}</a>
        </p>
        <p class="quiet small">{use.demo}</p>
      </div>
    </Card>
  );
}

function curlOf(url: string, call: object): string {
  const body = JSON.stringify(call, null, 2).replaceAll("'", "'\\''");
  return `curl -X POST ${url}/v1/calls \\
  -H "Authorization: Bearer $RINGPORT_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '${body}'`;
}

function programOf(url: string, call: object): string {
  const input = JSON.stringify(call, null, 2).replace(/^( *)"(\w+)":/gm, "$1$2:");
  return `import { createClient } from "ringport/client";

const ringport = createClient({ url: ${JSON.stringify(url)}, token: process.env.RINGPORT_TOKEN });
const { id } = await ringport.calls.create(${input});
const { outcome } = await ringport.waitForCall(id);
console.log(outcome.reason);`;
}
