import { useSignal } from "@preact/signals";
import type { BatchDetails, BatchPlan } from "../../../../../../src/client/index.ts";
import { Button, MoreButton } from "../../../components/button.tsx";
import { Card } from "../../../components/card.tsx";
import { FactRow } from "../../../components/facts.tsx";
import { Notice } from "../../../components/notice.tsx";
import { Table } from "../../../components/table.tsx";
import { FaultNotice } from "../../../components/waiting.tsx";
import { formatDuration, formatNumber, formatTime } from "../../../dictionary/format.ts";
import { client } from "../../../shell/client.ts";
import { useAction } from "../../../shell/use-action.ts";
import { spacedNumber } from "../../calls/typed-number.ts";
import { newBatchTexts as t } from "../../new-batch/new-batch-texts.ts";
import { BatchBadge } from "../batch-badge.tsx";

/** Number of calls shown at first; "Show more" adds five times as many. */
const STEP = 10;

/** A batch's plan: calls, times and numbers, with the button that starts the batch. */
export function PlanCard({
  batch,
  plan,
  onStarted,
}: {
  readonly batch: BatchDetails;
  readonly plan: BatchPlan;
  readonly onStarted: (batch: BatchDetails) => void;
}) {
  const { plan: texts } = t.value;
  const { WAITING: waitingCount = 0, INVALID: invalid = 0, DUPLICATE: duplicates = 0 } = batch.counts.by_status;
  const start = useAction(async () => {
    onStarted(await client.batches.start(batch.id, { skipInvalid: invalid > 0 }));
  });
  const { starts_at, ends_at, call_ms, call_ms_source } = plan;
  const assumptionNote = call_ms_source === "message" ? "" : ` (${texts.assumed})`;
  const facts: [string, string][] = [[texts.called, formatNumber(waitingCount)]];
  if (invalid + duplicates > 0) facts.push([texts.faulty, formatNumber(invalid + duplicates)]);
  if (starts_at !== null && ends_at !== null) {
    facts.push([texts.starts, formatTime(starts_at)], [texts.ends, formatTime(ends_at)]);
    facts.push([texts.lasts, formatDuration(Date.parse(ends_at) - Date.parse(starts_at))]);
  }
  facts.push([texts.callLength, formatDuration(call_ms) + assumptionNote]);
  return (
    <Card title={texts.title} actions={<BatchBadge status={batch.status} />}>
      <div class="stack">
        <p class="quiet">{texts.lead}</p>
        <FactRow facts={facts} />
        {plan.problems.length > 0 && (
          <Notice tone="warn">
            <strong>{texts.problems}</strong>
            {plan.problems.map(({ pointer, detail }) => (
              <p key={pointer + detail}>
                <code>{pointer}</code> {detail}
              </p>
            ))}
          </Notice>
        )}
        {waitingCount === 0 && <Notice tone="warn">{texts.noCalls}</Notice>}
        {start.fault !== undefined && <FaultNotice error={start.fault} />}
        <div>
          <Button icon="call" busy={start.busy} disabled={waitingCount === 0} onClick={() => start.start()}>
            {startText(batch, invalid)}
          </Button>
        </div>
        <Numbers plan={plan} />
        <FirstCalls plan={plan} />
      </div>
    </Card>
  );
}

function startText({ schedule: { start_at } }: BatchDetails, invalid: number): string {
  const { start } = t.value;
  const isLater = start_at !== null && Date.parse(start_at) > Date.now();
  if (invalid > 0) return isLater ? start.scheduleWithout(invalid) : start.without(invalid);
  return isLater ? start.schedule(formatTime(start_at)) : start.start;
}

/** The instances, each with the calls that it places. */
function Numbers({ plan }: { readonly plan: BatchPlan }) {
  const { plan: texts } = t.value;
  return (
    <div class="stack stack-s">
      <h3>{texts.numbers}</h3>
      <Table
        caption={texts.numbers}
        rows={plan.instances}
        keyOf={({ instance_id }) => instance_id}
        columns={[
          {
            title: texts.number,
            cell: ({ name, phone }) => (
              <div>
                {name}
                {phone !== null && <div class="small quiet number">{spacedNumber(phone)}</div>}
              </div>
            ),
          },
          { title: texts.calls, cell: ({ calls }) => <span class="number">{formatNumber(calls)}</span> },
          {
            title: texts.pace,
            cell: ({ pace_ms }) => (
              <span class="number">{texts.seconds(formatNumber(pace_ms / 1_000, { maximumFractionDigits: 1 }))}</span>
            ),
          },
          { title: texts.blocked, cell: ({ blocked }) => blocked ?? texts.ready },
        ]}
      />
    </div>
  );
}

function FirstCalls({ plan: { calls, instances } }: { readonly plan: BatchPlan }) {
  const { plan: texts } = t.value;
  const limit = useSignal(STEP);
  if (calls.length === 0) return null;
  const names = new Map(instances.map(({ instance_id, name }) => [instance_id, name]));
  return (
    <div class="stack stack-s">
      <h3>{texts.first}</h3>
      <Table
        caption={texts.first}
        rows={calls.slice(0, limit.value)}
        keyOf={({ position }) => String(position)}
        columns={[
          { title: texts.to, cell: ({ phone_number }) => <span class="number">{spacedNumber(phone_number)}</span> },
          { title: texts.at, cell: ({ at }) => <span class="number">{formatTime(at)}</span> },
          { title: texts.from, cell: ({ instance_id }) => names.get(instance_id) ?? instance_id },
        ]}
      />
      <MoreButton small limit={limit} length={calls.length} step={STEP * 5}>
        {texts.more}
      </MoreButton>
    </div>
  );
}
