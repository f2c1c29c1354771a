import { LinkButton } from "../components/button.tsx";
import { PageLayout } from "../components/page.tsx";
import { Loaded } from "../components/waiting.tsx";
import { client } from "../shell/client.ts";
import { faultCode } from "../shell/fault-sentence.ts";
import { href } from "../shell/place.ts";
import type { PageProps } from "./all-pages.ts";
import { BatchActions } from "./batches/batch-actions.tsx";
import { batchTexts as t } from "./batches/batch-texts.ts";
import { DraftBatch } from "./batches/draft/draft-batch.tsx";
import { LiveBatch } from "./batches/live-batch.tsx";
import { isOfBatch, useLiveData } from "./batches/use-live-data.ts";

/** `/batches/:id`: a draft with its plan, or a live view of a started batch. */
export default function BatchView({ params: { id = "" } }: PageProps) {
  const data = useLiveData(
    (signal) => client.batches.get(id, { signal }),
    (event) => isOfBatch(event, id),
  );
  if (faultCode(data.fault.value) === "batch_not_found")
    return (
      <PageLayout title={t.value.gone} lead={t.value.goneLead}>
        <LinkButton to={href("/batches")}>{t.value.back}</LinkButton>
      </PageLayout>
    );
  const batch = data.value.value;
  return (
    <PageLayout
      title={batch?.name ?? t.value.loading}
      lead={<a href={href("/batches")}>{t.value.back}</a>}
      actions={batch && <BatchActions batch={batch} data={data} />}
    >
      <Loaded data={data} lines={8}>
        {(details) =>
          details.status === "DRAFT" ? <DraftBatch batch={details} data={data} /> : <LiveBatch batch={details} />
        }
      </Loaded>
    </PageLayout>
  );
}
