import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { InstanceDetails } from "../../../../src/client/index.ts";
import { LinkButton } from "../components/button.tsx";
import { Card } from "../components/card.tsx";
import { CodeBlock } from "../components/copy.tsx";
import { Notice } from "../components/notice.tsx";
import { PageLayout } from "../components/page.tsx";
import { Tabs } from "../components/tabs.tsx";
import { TokenHint } from "../components/token-hint.tsx";
import { Loaded } from "../components/waiting.tsx";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/instances.ts";
import pt from "../dictionary/pt/instances.ts";
import { client } from "../shell/client.ts";
import { faultCode } from "../shell/fault-sentence.ts";
import { onEvents } from "../shell/live.ts";
import { href } from "../shell/place.ts";
import { signedIn } from "../shell/session.ts";
import { type Data, useData } from "../shell/use-data.ts";
import type { PageProps } from "./all-pages.ts";
import { DeleteCard } from "./instances/delete-card.tsx";
import { FactsCard } from "./instances/facts-card.tsx";
import { LinkCard } from "./instances/link-card.tsx";
import { networkKind } from "./instances/network-kind.ts";
import { networks } from "./instances/network-list.ts";
import { OfflineNotice } from "./instances/offline-notice.tsx";
import { QueueCard } from "./instances/queue-card.tsx";
import { SettingsCard } from "./instances/settings-card.tsx";
import { UnlinkCard } from "./instances/unlink-card.tsx";
import { curlExample, typeScriptExample } from "./new-call/call-examples.ts";
import { EMPTY_FORM } from "./new-call/call-form.ts";

const t = dictionary({ en, pt });

export default function InstanceView({ params: { id = "" } }: PageProps) {
  const instance = useData(
    (signal) => client.instances.get(id, { expand: ["connection"], signal }),
    ({ instance_id, type }) => instance_id === id && type !== "instance.deleted",
  );
  const isDeleted = useSignal(false);
  useEffect(
    () =>
      onEvents((events) => {
        if (events.some(({ instance_id, type }) => instance_id === id && type === "instance.deleted"))
          isDeleted.value = true;
      }),
    [id],
  );
  const { detail } = t.value;
  if (isDeleted.value || faultCode(instance.fault.value) === "instance_not_found")
    return (
      <PageLayout title={detail.gone} lead={detail.goneLead}>
        <LinkButton to={href("/instances")}>{detail.back}</LinkButton>
      </PageLayout>
    );
  const loadedInstance = instance.value.value;
  return (
    <PageLayout
      title={loadedInstance?.name ?? detail.loading}
      lead={<a href={href("/instances")}>{detail.back}</a>}
      actions={
        loadedInstance?.status === "ACTIVE" ? (
          <LinkButton icon="call" to={href(`/calls/new?instance=${id}`)}>
            {detail.call}
          </LinkButton>
        ) : undefined
      }
    >
      <Loaded data={instance} lines={8}>
        {(details) => <Details instance={details} data={instance} />}
      </Loaded>
    </PageLayout>
  );
}

function Details({ instance, data }: { readonly instance: InstanceDetails; readonly data: Data<InstanceDetails> }) {
  const { status, connection, name, callerId } = instance;
  const provider = connection?.provider ?? "";
  const network = useData(networks).value.value?.find((candidate) => candidate.name === provider);
  const linksAutomatically = network ? network.linking === "operator" : networkKind(provider) === "trunk";
  return (
    <>
      <LinkedNotice instance={instance} />
      <div class="stack stack-l">
        {connection?.condition && <ConditionNotice condition={connection.condition} />}
        {status === "CREATED" && !linksAutomatically && (
          <LinkCard instance={instance} provider={provider} reload={() => void data.reload()} />
        )}
        {status === "CREATED" && linksAutomatically && <Notice>{t.value.automatic.text}</Notice>}
        {(status === "CONFIGURED" || (status === "CREATED" && linksAutomatically)) && connection && (
          <OfflineNotice connection={connection} reload={() => data.reload()} />
        )}
        <div class="columns">
          <FactsCard instance={instance} />
          <QueueCard instance={instance} />
        </div>
        <SettingsCard key={JSON.stringify([name, callerId])} instance={instance} reload={() => data.reload()} />
        <ExamplesCard instance={instance} />
        {status !== "CREATED" && !linksAutomatically && <UnlinkCard instance={instance} reload={() => data.reload()} />}
        <DeleteCard instance={instance} />
      </div>
    </>
  );
}

/** Announces that the phone has been linked while this page is open. */
function LinkedNotice({ instance }: { readonly instance: InstanceDetails }) {
  const wasUnlinked = useSignal(instance.status === "CREATED");
  const isLinked = wasUnlinked.value && instance.status !== "CREATED";
  useEffect(() => {
    if (instance.status === "CREATED") wasUnlinked.value = true; // the next link is announced again
  }, [instance.status]);
  const { detail } = t.value;
  const phone = instance.connection?.phone ?? null;
  return (
    <div role="status">
      {isLinked && (
        <div class="notice notice-good flip">
          <strong>{detail.linked}</strong>
          <p>
            {instance.status === "CONFIGURED"
              ? detail.connecting
              : phone === null
                ? detail.linkedNowUnknown
                : detail.linkedNow(phone)}
          </p>
        </div>
      )}
    </div>
  );
}

type Condition = NonNullable<NonNullable<InstanceDetails["connection"]>["condition"]>;

/** A condition of the number, in addition to its status, with the fix. */
function ConditionNotice({ condition }: { readonly condition: Condition }) {
  const { title, text } = t.value.condition[condition];
  return (
    <Notice tone={condition === "pairing_code" ? "info" : "warn"}>
      <strong>{title}</strong>
      <p>{text}</p>
    </Notice>
  );
}

/** Examples of using the number in a program. */
function ExamplesCard({ instance: { id } }: { readonly instance: InstanceDetails }) {
  const { use } = t.value;
  const url = signedIn.value?.api_url ?? location.origin;
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
