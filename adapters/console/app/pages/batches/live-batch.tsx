import type { BatchDetails } from "../../../../../src/client/index.ts";
import { Card } from "../../components/card.tsx";
import { formatNumber } from "../../dictionary/format.ts";
import { outcomeBars } from "./batch-progress.ts";
import { reasonText, batchTexts as t } from "./batch-texts.ts";
import { CurrentCalls } from "./current-calls.tsx";
import { ProgressCard } from "./progress-card.tsx";
import { SummaryCard } from "./summary-card.tsx";
import { TargetsCard } from "./targets-card.tsx";

/** A started batch: progress, outcomes, current calls and targets. */
export function LiveBatch({ batch }: { readonly batch: BatchDetails }) {
  return (
    <div class="stack">
      <ProgressCard batch={batch} />
      <div class="columns">
        <Card title={t.value.outcomes.title}>
          <OutcomeChart byReason={batch.counts.by_reason} />
        </Card>
        <CurrentCalls batch={batch} />
      </div>
      <SummaryCard batch={batch} />
      <TargetsCard batch={batch} />
    </div>
  );
}

/** A bar for each reason why targets have ended. */
function OutcomeChart({ byReason }: { readonly byReason: BatchDetails["counts"]["by_reason"] }) {
  const bars = outcomeBars(byReason);
  if (bars.length === 0) return <p class="quiet">{t.value.outcomes.none}</p>;
  const longest = Math.max(...bars.map(({ targets }) => targets));
  const total = bars.reduce((sum, { targets }) => sum + targets, 0);
  return (
    <ul class="bars">
      {bars.map(({ reason, isGood, targets }) => (
        <li key={`${reason} ${isGood}`}>
          <span>{reasonText(reason)}</span>
          <span class="number">
            {formatNumber(targets)}{" "}
            <span class="quiet">{formatNumber(targets / total, { style: "percent", maximumFractionDigits: 0 })}</span>
          </span>
          <svg class="chart" width="100%" height="10" aria-hidden="true">
            <rect class="chart-track" width="100%" height="10" rx="5" />
            <rect
              class={isGood ? "chart-good" : "chart-bad"}
              width={`${(targets / longest) * 100}%`}
              height="10"
              rx="5"
            />
          </svg>
        </li>
      ))}
    </ul>
  );
}
