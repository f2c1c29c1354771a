import type { SummaryView } from "../../api.ts";
import { Card } from "../components/card.tsx";
import { Page } from "../components/page.tsx";
import { Loaded } from "../components/waiting.tsx";
import { dictionary } from "../dictionary/dictionary.ts";
import en from "../dictionary/en/overview.ts";
import pt from "../dictionary/pt/overview.ts";
import { consoleApi } from "../shell/console-api.ts";
import { useData } from "../shell/use-data.ts";
import { CallsPerDay } from "./overview/calls-per-day.tsx";
import { Failures } from "./overview/failures.tsx";
import { FirstSteps } from "./overview/first-steps.tsx";
import { LiveCalls } from "./overview/live-calls.tsx";

const t = dictionary({ en, pt });

export default function Overview() {
  const summary = useData(
    (signal) => consoleApi.get<SummaryView>("summary", signal),
    ({ type }) => type === "completed" || type === "failed",
  );
  return (
    <Page title={t.value.title} lead={t.value.lead}>
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
    </Page>
  );
}
