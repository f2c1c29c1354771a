import { ownMember } from "../../../../src/base/own-member.ts";
import type { SummaryView } from "../../api.ts";
import { Card } from "../components/card.tsx";
import { PageLayout } from "../components/page.tsx";
import { Loaded } from "../components/waiting.tsx";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/overview.ts";
import { formatNumber } from "../dictionary/format.ts";
import pt from "../dictionary/pt/overview.ts";
import { consoleApi } from "../shell/console-api.ts";
import { useData } from "../shell/use-data.ts";
import { CallsPerDay } from "./overview/calls-per-day.tsx";
import { FirstSteps } from "./overview/first-steps.tsx";
import { LiveCalls } from "./overview/live-calls.tsx";

const t = dictionary({ en, pt });

export default function Overview() {
  const summary = useData(
    (signal) => consoleApi.get<SummaryView>("summary", signal),
    ({ type }) => type === "completed" || type === "failed",
  );
  return (
    <PageLayout title={t.value.title} lead={t.value.lead}>
      <div class="stack">
        <FirstSteps />
        <LiveCalls />
        <div class="columns">
          <Card title={t.value.days.title}>
            <Loaded data={summary}>{({ days }) => <CallsPerDay days={days} />}</Loaded>
          </Card>
          <Card title={t.value.failures.title}>
            <Loaded data={summary}>{({ failures }) => <Failures failures={failures} />}</Loaded>
          </Card>
        </div>
      </div>
    </PageLayout>
  );
}

/** The reasons why calls have failed, most frequent first. */
function Failures({ failures }: Pick<SummaryView, "failures">) {
  const maxCalls = Math.max(1, ...failures.map(({ calls }) => calls));
  if (failures.length === 0) return <p class="quiet">{t.value.failures.none}</p>;
  return (
    <ul class="bars">
      {failures.map(({ reason, calls }) => (
        <li key={reason}>
          <span>{reasonText(reason)}</span>
          <span class="number">{formatNumber(calls)}</span>
          <svg class="chart" width="100%" height="8" aria-hidden="true">
            <rect class="chart-track" width="100%" height="8" rx="4" />
            <rect class="chart-bad" width={`${(calls / maxCalls) * 100}%`} height="8" rx="4" />
          </svg>
        </li>
      ))}
    </ul>
  );
}

function reasonText(reason: string): string {
  return ownMember(t.value.reasons, reason) ?? reason;
}
