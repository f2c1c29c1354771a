import { ownMember } from "../../../../../src/base/own-member.ts";
import type { CallWith } from "../../../../../src/client/index.ts";
import { CallBadge } from "../../components/badge.tsx";
import { Card } from "../../components/card.tsx";
import { formatDuration } from "../../dictionary/format.ts";
import { Elapsed } from "../calls/call-text.tsx";
import { t } from "./call-texts.ts";
import { percent } from "./event-text.ts";
import { Level } from "./level.tsx";

/** Progress of the call, or its outcome with the evidence. */
export function OutcomeCard({ call }: { readonly call: CallWith<"outcome"> }) {
  const { status, outcome, started_at } = call;
  const texts = t.value.outcome;
  const fix = outcome ? ownMember(t.value.fixes, outcome.reason) : undefined;
  return (
    <Card title={texts.title} actions={<CallBadge status={status} />}>
      <div class="stack">
        {status !== "COMPLETED" && status !== "FAILED" && (
          <p class="outcome">
            {t.value.now[status]}{" "}
            {status === "IN_PROGRESS" && started_at && (
              <span class="number">
                <Elapsed since={started_at} />
              </span>
            )}
          </p>
        )}
        {outcome && (
          <div>
            <p class="outcome">{t.value.reasons[outcome.reason]}</p>
            {fix !== undefined && <p class="quiet">{fix}</p>}
          </div>
        )}
        {outcome && (
          <dl class="facts">
            {outcome.detail !== null && (
              <>
                <dt>{texts.detail}</dt>
                <dd>{outcome.detail}</dd>
              </>
            )}
            {outcome.heard_ms !== null && outcome.duration_ms > 0 && (
              <>
                <dt>{texts.heard}</dt>
                <dd>
                  <HeardShare ms={outcome.heard_ms} ratio={outcome.heard_ratio} />
                </dd>
              </>
            )}
            {outcome.heard_evidence !== null && outcome.duration_ms > 0 && (
              <>
                <dt>{texts.evidence}</dt>
                <dd>{t.value.evidence[outcome.heard_evidence]}</dd>
              </>
            )}
            {outcome.answered_by !== null && (
              <>
                <dt>{texts.answeredBy}</dt>
                <dd>{t.value.answeredBy[outcome.answered_by]}</dd>
              </>
            )}
            {outcome.duration_ms > 0 && (
              <>
                <dt>{t.value.facts.duration}</dt>
                <dd class="number">{formatDuration(outcome.duration_ms)}</dd>
              </>
            )}
          </dl>
        )}
      </div>
    </Card>
  );
}

function HeardShare({ ms, ratio }: { readonly ms: number; readonly ratio: number | null }) {
  if (ratio === null) return <>{ms === 0 ? t.value.outcome.notHeard : formatDuration(ms)}</>;
  const words = t.value.outcome.heardOf(formatDuration(ms), percent(ratio));
  return (
    <>
      <span>{words}</span>
      <Level value={ratio} label={t.value.outcome.heard} />
    </>
  );
}
