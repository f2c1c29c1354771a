import { useSignal } from "@preact/signals";
import type { BatchDetails, BatchTarget } from "../../../../../../src/client/index.ts";
import { Button, MoreButton } from "../../../components/button.tsx";
import { Card } from "../../../components/card.tsx";
import { FaultNotice, Loaded } from "../../../components/waiting.tsx";
import { client } from "../../../shell/client.ts";
import { toast } from "../../../shell/toasts.tsx";
import { useAction } from "../../../shell/use-action.ts";
import { useData } from "../../../shell/use-data.ts";
import { newBatchTexts as t } from "../../new-batch/new-batch-texts.ts";
import { TargetBadge } from "../batch-badge.tsx";
import { downloadCsv } from "../download-csv.ts";
import { TargetFaults } from "../target-faults.tsx";
import { CorrectionForm } from "./correction-form.tsx";

/** Number of rows that "Show more" adds. */
const STEP = 25;

interface Props {
  readonly batch: BatchDetails;
  readonly variables: readonly string[];
  /** Called when a row has been corrected or removed. */
  readonly onChange: () => Promise<void>;
}

/** The rows with faults, to correct or remove in place. */
export function FaultsCard({ batch, variables, onChange }: Props) {
  const { id, counts } = batch;
  const { faults } = t.value;
  const limit = useSignal(STEP);
  const { INVALID: invalid = 0, DUPLICATE: duplicates = 0 } = counts.by_status;
  const rows = useData(
    (signal) => faultyTargets(id, limit.value, signal),
    undefined,
    `${invalid} ${duplicates} ${limit.value}`,
  );
  const download = useAction(() => downloadCsv(id, "INVALID"));
  if (invalid + duplicates === 0) return null;
  return (
    <Card
      title={faults.title(invalid + duplicates)}
      actions={
        invalid > 0 && (
          <Button small variant="quiet" icon="down" busy={download.busy} onClick={() => download.start()}>
            {faults.download}
          </Button>
        )
      }
    >
      <div class="stack">
        <p class="quiet">{faults.lead}</p>
        {download.fault !== undefined && <FaultNotice error={download.fault} />}
        <Loaded data={rows} lines={4}>
          {(targets) => (
            <>
              <ul class="items">
                {targets.slice(0, limit.value).map((target) => (
                  <FaultyRow
                    key={target.position}
                    batchId={id}
                    target={target}
                    variables={variables}
                    onChange={async () => {
                      await onChange();
                      await rows.reload();
                    }}
                  />
                ))}
              </ul>
              <MoreButton small limit={limit} length={targets.length} step={STEP}>
                {faults.more}
              </MoreButton>
            </>
          )}
        </Loaded>
      </div>
    </Card>
  );
}

async function faultyTargets(id: string, max: number, signal: AbortSignal): Promise<readonly BatchTarget[]> {
  const rows: BatchTarget[] = [];
  const query = { status: ["INVALID", "DUPLICATE"] as const, limit: Math.min(max + 1, 1_000) };
  for await (const target of client.batches.targets(id, query, { signal })) if (rows.push(target) > max) break;
  return rows;
}

function FaultyRow({
  batchId,
  target,
  variables,
  onChange,
}: Omit<Props, "batch"> & { readonly batchId: string; readonly target: BatchTarget }) {
  const { faults: texts } = t.value;
  const { row, position, phone_number, status, faults } = target;
  const isOpen = useSignal(false);
  const remove = useAction(async () => {
    await client.batches.removeTarget(batchId, position);
    toast(texts.removed(row));
    await onChange();
  });
  return (
    <li class="faulty-row">
      <div class="faulty-facts">
        <p class="row">
          <span class="quiet">{texts.form(row)}</span>
          <strong class="number">{phone_number}</strong>
          <TargetBadge status={status} />
        </p>
        <TargetFaults faults={faults} />
      </div>
      {!isOpen.value && (
        <div class="row">
          <Button small variant="quiet" label={texts.editNamed(row)} onClick={() => (isOpen.value = true)}>
            {texts.edit}
          </Button>
          <Button
            small
            variant="plain"
            icon="trash"
            busy={remove.busy}
            label={texts.removeNamed(row)}
            onClick={() => remove.start()}
          >
            {texts.remove}
          </Button>
        </div>
      )}
      {remove.fault !== undefined && <FaultNotice error={remove.fault} />}
      {isOpen.value && (
        <CorrectionForm
          batchId={batchId}
          target={target}
          variables={variables}
          onSaved={onChange}
          onClose={() => (isOpen.value = false)}
        />
      )}
    </li>
  );
}
