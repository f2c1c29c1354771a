import { Fragment } from "preact";
import type { CallMetrics, TurnMetrics } from "../../../../../src/client/index.ts";
import { Card } from "../../components/card.tsx";
import { Notice } from "../../components/notice.tsx";
import { Table } from "../../components/table.tsx";
import { formatNumber } from "../../dictionary/format.ts";
import { t } from "./call-texts.ts";

/** The result reported by the agent. */
export function ResultCard({
  result,
  error,
}: {
  readonly result: Readonly<Record<string, unknown>> | null;
  readonly error: string | null;
}) {
  const texts = t.value.agent;
  return (
    <Card title={texts.result}>
      {error !== null && <Notice tone="warn">{texts.noResult(error)}</Notice>}
      {result && (
        <dl class="facts">
          {Object.entries(result).map(([name, value]) => (
            <Fragment key={name}>
              <dt class="mono">{name}</dt>
              <dd>{typeof value === "string" ? value : <code>{JSON.stringify(value)}</code>}</dd>
            </Fragment>
          ))}
        </dl>
      )}
    </Card>
  );
}

/** The duration of each of the agent's turns. */
export function TurnsCard({ metrics }: { readonly metrics: CallMetrics }) {
  const texts = t.value.agent;
  const ms = (value: number | null): string => (value === null ? "–" : formatNumber(value));
  return (
    <Card title={texts.turns}>
      <div class="stack">
        <p class="small quiet">{texts.turnsHint}</p>
        <Table<readonly [number, TurnMetrics]>
          caption={texts.turns}
          rows={[...metrics.turns.entries()]}
          keyOf={([turn]) => String(turn)}
          columns={[
            { title: texts.input, cell: ([turn, { input }]) => `${turn + 1}. ${texts.inputs[input]}` },
            { title: texts.gap, cell: ([, turn]) => ms(turn.turn_gap_ms ?? turn.first_audio_sent_ms) },
            { title: texts.model, cell: ([, turn]) => ms(turn.llm_ttft_ms) },
            { title: texts.speech, cell: ([, turn]) => ms(turn.tts_ttfb_ms) },
            { title: texts.interrupted, cell: ([, turn]) => (turn.interrupted ? texts.yes : texts.no) },
          ]}
        />
      </div>
    </Card>
  );
}
