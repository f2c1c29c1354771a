import type { SummaryView } from "../../../api.ts";
import { dictionary } from "../../dictionary/dictionary.ts";
import en from "../../dictionary/en/overview.ts";
import { formatDay, formatNumber } from "../../dictionary/format.ts";
import pt from "../../dictionary/pt/overview.ts";

const t = dictionary({ en, pt });

const HEIGHT = 150;
/** Minimum number of calls at full height, so that one call on a quiet day is not a peak. */
const MIN_SCALE = 5;
/** Share of a day's width that its bar covers. */
const BAR_SHARE = 0.68;

/** One bar per day: completed calls, with failed ones on top. A table has the numbers for screen readers. */
export function CallsPerDay({ days }: Pick<SummaryView, "days">) {
  const maxCalls = Math.max(0, ...days.map(({ completed, failed }) => completed + failed));
  const scale = Math.max(MIN_SCALE, maxCalls);
  const total = days.reduce((sum, { completed, failed }) => sum + completed + failed, 0);
  const width = 100 / Math.max(1, days.length);
  const height = (calls: number): number => (calls / scale) * HEIGHT;
  if (total === 0) return <p class="quiet">{t.value.days.none}</p>;
  return (
    <figure class="stack stack-s">
      <ul class="legend">
        <li>
          <i class="legend-good" />
          {t.value.days.completed}
        </li>
        <li>
          <i class="legend-bad" />
          {t.value.days.failed}
        </li>
        <li class="legend-end">{t.value.days.busiest(maxCalls)}</li>
      </ul>
      <svg class="chart" width="100%" height={HEIGHT} aria-hidden="true">
        <line x1="0" x2="100%" y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        {days.map(({ day, completed, failed }, index) => {
          const x = `${width * (index + (1 - BAR_SHARE) / 2)}%`;
          const top = HEIGHT - height(completed);
          return (
            <g key={day}>
              <rect
                class="chart-good"
                x={x}
                width={`${width * BAR_SHARE}%`}
                y={top}
                height={height(completed)}
                rx="2"
              />
              <rect
                class="chart-bad"
                x={x}
                width={`${width * BAR_SHARE}%`}
                y={top - height(failed) - (failed > 0 && completed > 0 ? 1 : 0)}
                height={height(failed)}
                rx="2"
              />
              <title>{t.value.days.day(formatDay(day), completed, failed)}</title>
            </g>
          );
        })}
      </svg>
      <div class="row row-apart small quiet" aria-hidden="true">
        <span>{formatDay(days[0]?.day ?? "", "short")}</span>
        <span>{t.value.days.total(total)}</span>
        <span>{formatDay(days.at(-1)?.day ?? "", "short")}</span>
      </div>
      {/* A hidden table would still be as wide as its words. */}
      <div class="visually-hidden">
        <table>
          <caption>{t.value.days.title}</caption>
          <thead>
            <tr>
              <th scope="col">{t.value.days.date}</th>
              <th scope="col">{t.value.days.completed}</th>
              <th scope="col">{t.value.days.failed}</th>
            </tr>
          </thead>
          <tbody>
            {days.map(({ day, completed, failed }) => (
              <tr key={day}>
                <th scope="row">{formatDay(day)}</th>
                <td>{formatNumber(completed)}</td>
                <td>{formatNumber(failed)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
