import { useRef } from "preact/hooks";
import type { BatchDetails } from "../../../../../src/client/index.ts";
import { Card } from "../../components/card.tsx";
import { FactRow } from "../../components/facts.tsx";
import { Notice } from "../../components/notice.tsx";
import { Progress } from "../../components/waiting.tsx";
import { formatNumber, formatTime } from "../../dictionary/format.ts";
import { BatchBadge } from "./batch-badge.tsx";
import { batchProgressOf, type ProgressSample, ratePerMinute, withSample } from "./batch-progress.ts";
import { reasonText, batchTexts as t } from "./batch-texts.ts";

/** A batch's progress, rate and estimated end. */
export function ProgressCard({ batch }: { readonly batch: BatchDetails }) {
  const { status, reason, schedule, started_at, ended_at, estimated_end_at } = batch;
  const { progress } = t.value;
  const { total, ended, waiting, calling, skipped, share } = batchProgressOf(batch.counts);
  const rate = useRate(batch, ended);
  const facts: [string, string][] = [[progress.waiting, formatNumber(waiting)]];
  const retries = batch.counts.waiting_after.map(({ reason: lastReason, targets }) =>
    progress.after(formatNumber(targets), reasonText(lastReason)),
  );
  if (retries.length > 0) facts.push([progress.again, retries.join(", ")]);
  if (ended_at === null) facts.push([progress.calling, formatNumber(calling)]);
  if (status === "RUNNING") {
    if (rate !== undefined)
      facts.push([progress.rate, progress.perMinute(formatNumber(rate, { maximumFractionDigits: rate < 10 ? 1 : 0 }))]);
    facts.push([progress.end, estimated_end_at === null ? progress.unknownEnd : formatTime(estimated_end_at)]);
  }
  if (started_at !== null) facts.push([progress.started, formatTime(started_at)]);
  else if (schedule.start_at !== null) facts.push([progress.starts, formatTime(schedule.start_at)]);
  if (ended_at !== null) facts.push([progress.ended, formatTime(ended_at)]);
  return (
    <Card title={progress.title} actions={<BatchBadge status={status} />}>
      <div class="stack">
        <div class="stack stack-s">
          <Progress label={progress.title} value={share} />
          <p class="row row-apart">
            <strong class="number">{progress.done(formatNumber(ended), formatNumber(total))}</strong>
            <span class="quiet number">{formatNumber(share, { style: "percent", maximumFractionDigits: 1 })}</span>
          </p>
        </div>
        {status === "PAUSED" && (
          <Notice tone="warn">
            <strong>{progress.paused}</strong>
            <p>{reason ?? progress.pausedByYou}</p>
          </Notice>
        )}
        {status === "CANCELLED" && reason !== null && (
          <Notice tone="info">
            <p>{reason}</p>
          </Notice>
        )}
        <FactRow facts={facts} />
        {skipped > 0 && <p class="small quiet">{progress.left(skipped)}</p>}
      </div>
    </Card>
  );
}

/** Number of targets that ended per minute: over the last minute, or since the page was opened if that is shorter. */
function useRate({ status, started_at }: BatchDetails, ended: number): number | undefined {
  const samples = useRef<readonly ProgressSample[]>([]);
  const now = Date.now();
  samples.current = status === "RUNNING" ? withSample(samples.current, { at: now, ended }) : [];
  const sinceStart = [
    { at: started_at === null ? now : Date.parse(started_at), ended: 0 },
    { at: now, ended },
  ];
  return ratePerMinute(samples.current) ?? ratePerMinute(sinceStart);
}
