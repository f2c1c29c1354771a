import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { BatchDetails } from "../../../../../../src/client/index.ts";
import type { BatchMessage } from "../../../../../../src/domain/batches/batch.ts";
import { variablesOf } from "../../../../../../src/domain/batches/message-template.ts";
import { Button } from "../../../components/button.tsx";
import { Card } from "../../../components/card.tsx";
import { FaultNotice, Loaded, Progress } from "../../../components/waiting.tsx";
import { client } from "../../../shell/client.ts";
import { toast } from "../../../shell/toasts.tsx";
import { useAction } from "../../../shell/use-action.ts";
import { type Data, useData } from "../../../shell/use-data.ts";
import { ChosenList } from "../../new-batch/chosen-list.ts";
import { importFile } from "../../new-batch/import-file.ts";
import { ListFields } from "../../new-batch/list-fields.tsx";
import { newBatchTexts as t } from "../../new-batch/new-batch-texts.ts";
import { SummaryCard } from "../summary-card.tsx";
import { FaultsCard } from "./faults-card.tsx";
import { PlanCard } from "./plan-card.tsx";

/** A draft: its plan, the rows with problems, and the button that starts it. */
export function DraftBatch({ batch, data }: { readonly batch: BatchDetails; readonly data: Data<BatchDetails> }) {
  const { id } = batch;
  const plan = useData((signal) => client.batches.plan(id, { signal }));
  const variables = variablesOf(batch.message as BatchMessage);
  const reload = async (): Promise<void> => {
    await Promise.all([data.reload(), plan.reload()]);
  };
  return (
    <div class="stack">
      <Loaded data={plan} lines={6}>
        {(value) => <PlanCard batch={batch} plan={value} onStarted={(startedBatch) => data.set(startedBatch)} />}
      </Loaded>
      <FaultsCard batch={batch} variables={variables} onChange={reload} />
      <SummaryCard batch={batch} />
      <AddCard id={id} variables={variables} onAdded={reload} />
    </div>
  );
}

/** Imports another list into the draft. */
function AddCard({
  id,
  variables,
  onAdded,
}: {
  readonly id: string;
  readonly variables: readonly string[];
  readonly onAdded: () => Promise<void>;
}) {
  const list = useMemo(() => new ChosenList(), []);
  const progress = useSignal<number | undefined>(undefined);
  const { add } = t.value;
  const file = list.fileFor(variables);
  const importList = useAction(async () => {
    if (!file) return;
    try {
      progress.value = 0;
      const { rows } = await importFile(id, file.file, file.columns, (share) => (progress.value = share));
      list.clear();
      toast(add.imported(rows));
    } finally {
      progress.value = undefined;
      await onAdded();
    }
  });
  return (
    <Card title={add.title}>
      <div class="stack">
        <ListFields list={list} variables={variables} onOpen={importList.forget} />
        {importList.fault !== undefined && <FaultNotice error={importList.fault} />}
        {progress.value !== undefined && <Progress label={t.value.list.importing} value={progress.value} />}
        {file && (
          <div>
            <Button busy={importList.busy} onClick={() => importList.start()}>
              {add.action}
            </Button>
          </div>
        )}
      </div>
    </Card>
  );
}
