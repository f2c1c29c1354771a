import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { BatchDetails } from "../../../../../src/client/index.ts";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { FactList } from "../../components/facts.tsx";
import { callTypes } from "../../dictionary/call-types.ts";
import { formatNumber, formatSpan, formatTime } from "../../dictionary/format.ts";
import { hoursText, messageFacts, retryText } from "./batch-facts.ts";
import { batchTexts as t } from "./batch-texts.ts";

/** Number of characters of a message shown at first. */
const SHOWN_CHARACTERS = 240;

/** A summary of a batch's message and rules. */
export function SummaryCard({ batch }: { readonly batch: BatchDetails }) {
  const { summary } = t.value;
  const { schedule, retry, max_concurrent, gap_ms, breaker } = batch;
  const { text, voiceId, language, firstMessage, onMachine } = messageFacts(batch.message);
  const { hours, zone } = schedule;
  const facts: (readonly [string, ComponentChildren])[] = [
    text === undefined
      ? [summary.message, callTypes[batch.type].value.name]
      : [batch.type === "DYNAMIC_AGENT" ? summary.instructions : summary.message, <LongText key="text" text={text} />],
  ];
  if (firstMessage !== undefined) facts.push([summary.firstMessage, firstMessage ?? summary.calleeFirst]);
  if (voiceId !== undefined) facts.push([summary.voice, voiceId]);
  if (language !== undefined) facts.push([summary.language, language]);
  if (onMachine !== undefined) facts.push([summary.machine, summary.onMachine[onMachine]]);
  if (schedule.start_at !== null) facts.push([summary.from, formatTime(schedule.start_at)]);
  if (schedule.end_at !== null) facts.push([summary.until, formatTime(schedule.end_at)]);
  if (hours) facts.push([summary.hours, hoursText(hours, zone)]);
  facts.push([summary.retry, retry ? retryText(retry) : summary.noRetry]);
  if (max_concurrent !== null) facts.push([summary.atOnce, formatNumber(max_concurrent)]);
  if (gap_ms > 0) facts.push([summary.gap, summary.after(formatSpan(gap_ms))]);
  if (breaker) {
    const share = formatNumber(breaker.share, { style: "percent" });
    facts.push([summary.pause, summary.pauses(share, formatNumber(breaker.calls))]);
  }
  return (
    <Card title={summary.title}>
      <FactList facts={facts} />
    </Card>
  );
}

/** Text with its line breaks; long text is shown in full on request. */
function LongText({ text }: { readonly text: string }) {
  const isWhole = useSignal(false);
  const { summary } = t.value;
  const characters = [...text];
  if (characters.length <= SHOWN_CHARACTERS) return <span class="batch-text">{text}</span>;
  return (
    <>
      <span class="batch-text">
        {isWhole.value
          ? text
          : `${characters
              .slice(0, SHOWN_CHARACTERS)
              .join("")
              .replace(/[\s.,;:]+$/, "")} …`}
      </span>
      <div>
        <Button small variant="quiet" onClick={() => (isWhole.value = !isWhole.value)}>
          {isWhole.value ? summary.less : summary.whole}
        </Button>
      </div>
    </>
  );
}
