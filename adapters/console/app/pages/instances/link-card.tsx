import { useSignal } from "@preact/signals";
import type { InstanceDetails, LinkPage, QrCode } from "../../../../../src/client/index.ts";
import { Button, LinkButton } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { CopyField } from "../../components/copy.tsx";
import { FaultNotice } from "../../components/waiting.tsx";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/instances.ts";
import { formatTime } from "../../dictionary/format.ts";
import pt from "../../dictionary/pt/instances.ts";
import { client } from "../../shell/client.ts";
import { useAction } from "../../shell/use-action.ts";
import { networkKind } from "./network-kind.ts";
import { QrPanel } from "./qr-panel.tsx";

const t = dictionary({ en, pt });

/** The ways to link a phone: with its code, with the code's URL, or with a link to send. */
export function LinkCard({
  instance,
  provider,
  reload,
}: {
  readonly instance: InstanceDetails;
  readonly provider: string;
  /** Called when the code is no longer needed or does not arrive. */
  readonly reload: () => void;
}) {
  const code = useSignal<QrCode | undefined>(undefined);
  const { link } = t.value;
  const isAccount = networkKind(provider) === "account";
  return (
    <Card title={isAccount ? link.titleAccount : link.title}>
      <div class="columns">
        <QrPanel id={instance.id} code={code} onLinked={reload} onFailed={reload} />
        <div class="stack stack-l">
          {!isAccount && (
            <ol class="steps">
              <li>{link.steps.open}</li>
              <li>{link.steps.scan}</li>
              <li>{link.steps.wait}</li>
            </ol>
          )}
          <CodeAddress page={code.value?.page ?? null} provider={provider} />
          <SendLink instance={instance} />
        </div>
      </div>
    </Card>
  );
}

/** Link to the page behind the code: the simulated phone needs no camera. */
function CodeAddress({ page, provider }: { readonly page: string | null; readonly provider: string }) {
  if (page === null) return null;
  const { link } = t.value;
  const kind = networkKind(provider);
  const texts =
    kind === "simulator"
      ? { title: link.simulated, text: link.simulatedText, action: link.simulatedAction }
      : kind === "account"
        ? { title: link.account, text: link.accountText, action: link.accountAction }
        : undefined;
  return (
    <div class="stack stack-s">
      {texts && <h3>{texts.title}</h3>}
      {texts && <p class="quiet">{texts.text}</p>}
      <div>
        <LinkButton icon="external" to={page} newTab>
          {texts?.action ?? link.pageAction}
        </LinkButton>
      </div>
    </div>
  );
}

/** A link to send to the phone's owner. */
function SendLink({ instance: { id, name } }: { readonly instance: InstanceDetails }) {
  const page = useSignal<LinkPage | undefined>(undefined);
  const createLink = useAction(async () => {
    page.value = await client.instances.linkPage(id);
  });
  const { link } = t.value;
  const createdPage = page.value;
  return (
    <div class="stack stack-s">
      <h3>{link.send}</h3>
      <p class="quiet">{link.sendText}</p>
      {createdPage && (
        <>
          <CopyField label={link.address} value={createdPage.url} />
          <p class="small" role="status">
            {link.expires(formatTime(createdPage.expires_at))}
          </p>
        </>
      )}
      {createLink.fault !== undefined && <FaultNotice error={createLink.fault} />}
      <div class="row">
        <Button variant="quiet" busy={createLink.busy} onClick={() => createLink.start()}>
          {createdPage ? link.sendAgain : link.sendAction}
        </Button>
        {createdPage && "share" in navigator && (
          <Button variant="quiet" onClick={() => void share(createdPage.url, link.shareText(name))}>
            {link.share}
          </Button>
        )}
      </div>
    </div>
  );
}

async function share(url: string, text: string): Promise<void> {
  try {
    await navigator.share({ url, text });
  } catch {
    // The user has closed the browser's dialog.
  }
}
