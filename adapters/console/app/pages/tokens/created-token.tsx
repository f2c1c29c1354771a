import type { NewTokenView } from "../../../api.ts";
import { Button } from "../../components/button.tsx";
import { CodeBlock, CopyField } from "../../components/copy.tsx";
import { Notice } from "../../components/notice.tsx";
import { Tabs } from "../../components/tabs.tsx";
import { Skeleton } from "../../components/waiting.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/tokens.ts";
import pt from "../../dictionary/pt/tokens.ts";
import { client } from "../../shell/client.ts";
import { signedIn } from "../../shell/session.ts";
import { useData } from "../../shell/use-data.ts";
import { curlTokenExample, typescriptExample } from "./token-examples.ts";

const t = dictionary({ en, pt });

/** The new token, which is shown only once, with code to paste. */
export function CreatedToken({ token, onClose }: { readonly token: NewTokenView; readonly onClose: () => void }) {
  const texts = t.value.created;
  const instances = useData((signal) => client.instances.page({ limit: 100 }, { signal }));
  const url = signedIn.value?.api_url ?? location.origin;
  const instanceList = instances.value.value?.items;
  const instance =
    token.demo_instance_id ?? (instanceList?.find(({ status }) => status === "ACTIVE") ?? instanceList?.[0])?.id;
  const exampleInput = { url, token: token.token, scopes: token.scopes, instance };
  return (
    <div class="stack">
      <Notice tone="warn">{texts.once}</Notice>
      <CopyField label={texts.token} value={token.token} />
      {instanceList === undefined && instances.fault.value === undefined ? (
        <Skeleton />
      ) : (
        <Tabs
          label={texts.examples}
          tabs={[
            { name: "curl", content: () => <CodeBlock label="curl" code={curlTokenExample(exampleInput)} /> },
            {
              name: "TypeScript",
              content: () => <CodeBlock label="TypeScript" code={typescriptExample(exampleInput)} />,
            },
          ]}
        />
      )}
      <div class="row row-end">
        <Button onClick={onClose}>{texts.done}</Button>
      </div>
    </div>
  );
}
