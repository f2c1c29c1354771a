import type { QualityInterval } from "../../../../../src/client/index.ts";
import { formatDuration, formatNumber } from "../../dictionary/format.ts";
import { t } from "./call-texts.ts";
import { percent } from "./event-text.ts";
import { areaOf, MEASURES, type Measure, trendOf } from "./quality-trends.ts";

const SIZE = { width: 1_000, height: 32 } as const;

/** Loss, jitter and round trip over time. A table has the numbers for screen readers. */
export function QualityChart({ intervals }: { readonly intervals: readonly QualityInterval[] }) {
  const texts = t.value.quality.overTime;
  const trends = MEASURES.map((measure) => ({ measure, trend: trendOf(measure, intervals) }));
  return (
    <figure class="stack stack-s">
      <ul class="bars">
        {trends.map(({ measure, trend }) => (
          <li key={measure}>
            <span>{texts.measures[measure]}</span>
            <span class="quiet small">
              {trend.latest === undefined || trend.highest === undefined
                ? texts.unknown
                : texts.latest(measureText(measure, trend.latest), measureText(measure, trend.highest))}
            </span>
            {trend.latest !== undefined && (
              <svg
                class="chart"
                width="100%"
                height={SIZE.height}
                viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
                preserveAspectRatio="none"
                aria-hidden="true"
              >
                <path
                  class={measure === "loss" || measure === "remoteLoss" ? "chart-bad" : "chart-good"}
                  d={areaOf(measure, trend, intervals, SIZE)}
                />
                <line x1="0" x2={SIZE.width} y1={SIZE.height} y2={SIZE.height} vector-effect="non-scaling-stroke" />
              </svg>
            )}
          </li>
        ))}
      </ul>
      <div class="row row-apart small quiet" aria-hidden="true">
        <span>{formatDuration(0)}</span>
        <span>{formatDuration(intervals.at(-1)?.until_ms ?? 0)}</span>
      </div>
      {/* A hidden table would still be as wide as its words. */}
      <div class="visually-hidden">
        <table>
          <caption>{texts.title}</caption>
          <thead>
            <tr>
              <th scope="col">{texts.until}</th>
              {MEASURES.map((measure) => (
                <th key={measure} scope="col">
                  {texts.measures[measure]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {intervals.map(({ until_ms }, i) => (
              <tr key={until_ms}>
                <th scope="row">{formatDuration(until_ms)}</th>
                {trends.map(({ measure, trend }) => {
                  const value = trend.values[i] ?? null;
                  return <td key={measure}>{value === null ? texts.unknown : measureText(measure, value)}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

function measureText(measure: Measure, value: number): string {
  if (measure === "loss" || measure === "remoteLoss") return percent(value);
  return t.value.quality.ms(formatNumber(value, { maximumFractionDigits: value < 10 ? 1 : 0 }));
}
