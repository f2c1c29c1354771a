import { useSignal } from "@preact/signals";
import type { ComponentChildren, ComponentProps } from "preact";
import type { Webhook } from "../../../../src/client/index.ts";
import { Button, LinkButton } from "../components/button.tsx";
import { Card } from "../components/card.tsx";
import { Notice } from "../components/notice.tsx";
import { PageLayout } from "../components/page.tsx";
import { FaultNotice, Loaded } from "../components/waiting.tsx";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/webhooks.ts";
import pt from "../dictionary/pt/webhooks.ts";
import { client } from "../shell/client.ts";
import { confirm } from "../shell/confirm.tsx";
import { faultCode } from "../shell/fault-sentence.ts";
import { href, navigate } from "../shell/place.ts";
import { toast } from "../shell/toasts.tsx";
import { useAction } from "../shell/use-action.ts";
import { type Data, useData } from "../shell/use-data.ts";
import type { PageProps } from "./all-pages.ts";
import { DeliveriesCard } from "./webhooks/deliveries-card.tsx";
import { SecretDialog } from "./webhooks/secret-dialog.tsx";
import { WebhookBadge } from "./webhooks/status-badge.tsx";
import { WebhookForm } from "./webhooks/webhook-form.tsx";

const t = dictionary({ en, pt });

export default function WebhookView({ params: { id = "" } }: PageProps) {
  const webhook = useData((signal) => client.webhooks.get(id, { signal }));
  const { detail } = t.value;
  if (faultCode(webhook.fault.value) === "webhook_not_found")
    return (
      <PageLayout title={detail.gone} lead={detail.goneLead}>
        <LinkButton to={href("/webhooks")}>{detail.back}</LinkButton>
      </PageLayout>
    );
  const loadedWebhook = webhook.value.value;
  return (
    <PageLayout
      title={loadedWebhook?.description ?? loadedWebhook?.url ?? detail.loading}
      lead={<a href={href("/webhooks")}>{detail.back}</a>}
    >
      <Loaded data={webhook} lines={8}>
        {(details) => <Details webhook={details} data={webhook} />}
      </Loaded>
    </PageLayout>
  );
}

function Details({ webhook, data }: { readonly webhook: Webhook; readonly data: Data<Webhook> }) {
  const { detail, form } = t.value;
  return (
    <div class="stack stack-l">
      <State webhook={webhook} data={data} />
      <DeliveriesCard webhook={webhook} onFailed={() => void data.reload()} />
      <Card title={detail.settings}>
        <div class="measure">
          <WebhookForm
            webhook={webhook}
            save={async (fields) => {
              data.set(await client.webhooks.update(webhook.id, fields));
              toast(form.saved);
            }}
            buttons={({ busy }) => <Button busy={busy}>{form.save}</Button>}
          />
        </div>
      </Card>
      <SecretCard id={webhook.id} />
      <DeleteCard webhook={webhook} />
    </div>
  );
}

/** A webhook's state, with the button that changes it. */
function State({ webhook, data }: { readonly webhook: Webhook; readonly data: Data<Webhook> }) {
  const { detail, disabled } = t.value;
  const change = useAction(async () => {
    const updated = await client.webhooks.update(webhook.id, { enabled: !webhook.enabled });
    data.set(updated);
    toast(updated.enabled ? detail.enabled : detail.wasDisabled);
  });
  return (
    <Card title={detail.state} actions={<WebhookBadge webhook={webhook} />}>
      <div class="stack">
        <p class="mono">{webhook.url}</p>
        {webhook.header_names.length > 0 && <p>{detail.headers(webhook.header_names.join(", "))}</p>}
        {webhook.disabled_reason !== null && (
          <Notice tone={webhook.disabled_reason === "requested" ? "info" : "warn"}>
            <p>{disabled[webhook.disabled_reason]}</p>
            <p>{disabled.missed}</p>
          </Notice>
        )}
        {change.fault !== undefined && <FaultNotice error={change.fault} />}
        <div>
          <Button variant={webhook.enabled ? "quiet" : undefined} busy={change.busy} onClick={() => change.start()}>
            {webhook.enabled ? detail.disable : detail.enable}
          </Button>
        </div>
      </div>
    </Card>
  );
}

function SecretCard({ id }: { readonly id: string }) {
  const secret = useSignal<string | undefined>(undefined);
  const { rotate } = t.value;
  const confirmRotation = (): void =>
    confirm({
      title: rotate.question,
      consequence: rotate.consequence,
      action: rotate.action,
      async run() {
        secret.value = (await client.webhooks.rotateSecret(id)).secret;
      },
    });
  return (
    <ActionCard texts={rotate} variant="quiet" icon="key" onClick={confirmRotation}>
      {secret.value !== undefined && (
        <SecretDialog
          secret={secret.value}
          isRotated
          onClose={() => {
            secret.value = undefined;
          }}
        />
      )}
    </ActionCard>
  );
}

function DeleteCard({ webhook: { id, url } }: { readonly webhook: Webhook }) {
  const { remove } = t.value;
  const confirmDeletion = (): void =>
    confirm({
      title: remove.question(url),
      consequence: remove.consequence,
      action: remove.action,
      async run() {
        await client.webhooks.delete(id);
        toast(remove.done);
        navigate("/webhooks");
      },
    });
  return <ActionCard texts={remove} variant="danger" icon="trash" onClick={confirmDeletion} />;
}

/** A card with an explanation and one button. */
function ActionCard({
  texts,
  children,
  ...button
}: {
  readonly texts: { readonly title: string; readonly text: string; readonly action: string };
  readonly children?: ComponentChildren;
} & Pick<ComponentProps<typeof Button>, "variant" | "icon" | "onClick">) {
  return (
    <Card title={texts.title}>
      <div class="stack">
        <p>{texts.text}</p>
        <div>
          <Button {...button}>{texts.action}</Button>
        </div>
      </div>
      {children}
    </Card>
  );
}
