import type { ComponentChildren } from "preact";
import type { CallQuality, StreamStatistics } from "../../../../../src/client/index.ts";
import { Badge } from "../../components/badge.tsx";
import { Card } from "../../components/card.tsx";
import { FactList } from "../../components/facts.tsx";
import { Notice } from "../../components/notice.tsx";
import { formatDuration, formatNumber } from "../../dictionary/format.ts";
import { t } from "./call-texts.ts";
import { percent } from "./event-text.ts";
import { QualityChart } from "./quality-chart.tsx";

/** Lowest scores that users rate as good, and as fair (ITU-T G.107, annex B). */
const MIN_GOOD_MOS = 4;
const MIN_FAIR_MOS = 3.1;

/** Audio quality on the network, during and after the call. */
export function QualityCard({
  quality,
  statistics,
  hasEnded,
}: {
  /** Null if not measured yet. */
  readonly quality: CallQuality | null;
  /** Null until the call has ended, and on a network that does not count packets. */
  readonly statistics: StreamStatistics | null;
  readonly hasEnded: boolean;
}) {
  const texts = t.value.quality;
  return (
    <Card title={texts.title}>
      <div class="stack">
        {quality !== null && <QualityChart intervals={quality.intervals} />}
        {statistics !== null && <Totals statistics={statistics} />}
        {quality === null && statistics === null && (
          <p class="quiet">{hasEnded ? texts.none : texts.overTime.pending}</p>
        )}
      </div>
    </Card>
  );
}

function Totals({ statistics }: { readonly statistics: StreamStatistics }) {
  const texts = t.value.quality;
  const { packets_received, packets_lost, packets_sent } = statistics;
  const ms = (value: number | null): string => (value === null ? texts.unknown : texts.ms(formatNumber(value)));
  const count = (value: number): string => formatNumber(value);
  const lossShare = packets_lost / Math.max(1, packets_received + packets_lost);
  const facts: readonly (readonly [string, ComponentChildren])[] = [
    [texts.mos, <Mos key="mos" score={statistics.mos} />],
    [texts.codec, statistics.codec],
    [texts.jitter, ms(statistics.jitter_ms)],
    [texts.loss, texts.fewOf(count(packets_lost), percent(lossShare))],
    [texts.remoteLoss, statistics.remote_loss === null ? texts.unknown : percent(statistics.remote_loss)],
    [texts.roundTrip, ms(statistics.round_trip_ms)],
    [texts.packets, `${count(packets_sent)} · ${count(packets_received)}`],
    [
      texts.others,
      [statistics.packets_reordered, statistics.packets_duplicated, statistics.packets_invalid].map(count).join(" · "),
    ],
    ...(statistics.packets_injected ? [[texts.injected, count(statistics.packets_injected)] as const] : []),
    ...(statistics.held_ms > 0 ? [[texts.held, formatDuration(statistics.held_ms)] as const] : []),
  ];
  return (
    <>
      {packets_received === 0 && packets_sent > 0 && <Notice tone="warn">{texts.oneWay}</Notice>}
      <FactList facts={facts} />
    </>
  );
}

function Mos({ score }: { readonly score: number | null }) {
  const { mosOf, words, unknown } = t.value.quality;
  if (score === null) return <>{unknown}</>;
  const [tone, word] =
    score >= MIN_GOOD_MOS
      ? (["good", words.good] as const)
      : score >= MIN_FAIR_MOS
        ? (["warn", words.fair] as const)
        : (["bad", words.poor] as const);
  return <Badge tone={tone}>{mosOf(formatNumber(score, { maximumFractionDigits: 2 }), word)}</Badge>;
}
