import { ownMember } from "../../../../../src/base/own-member.ts";
import type { SummaryView } from "../../../api.ts";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/overview.ts";
import { formatNumber } from "../../dictionary/format.ts";
import pt from "../../dictionary/pt/overview.ts";

const t = dictionary({ en, pt });

/** The reasons of failed calls, the most frequent first. */
export function Failures({ failures }: Pick<SummaryView, "failures">) {
  const most = Math.max(1, ...failures.map(({ calls }) => calls));
  if (failures.length === 0) return <p class="quiet">{t.value.failures.none}</p>;
  return (
    <ul class="bars">
      {failures.map(({ reason, calls }) => (
        <li key={reason}>
          <span>{reasonText(reason)}</span>
          <span class="number">{formatNumber(calls)}</span>
          <svg class="chart" width="100%" height="8" aria-hidden="true">
            <rect class="chart-track" width="100%" height="8" rx="4" />
            <rect class="chart-bad" width={`${(calls / most) * 100}%`} height="8" rx="4" />
          </svg>
        </li>
      ))}
    </ul>
  );
}

function reasonText(reason: string): string {
  return ownMember(t.value.reasons, reason) ?? reason;
}
