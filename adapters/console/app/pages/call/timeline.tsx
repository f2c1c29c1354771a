import type { CallEvent } from "../../../../../src/client/index.ts";
import { Card } from "../../components/card.tsx";
import { Notice } from "../../components/notice.tsx";
import { faultSentence } from "../../shell/fault-sentence.ts";
import { t } from "./call-texts.ts";
import { eventText, secondsOf } from "./event-text.ts";
import type { CallTimelineState } from "./use-timeline.ts";

/** Events with the time since the call was created. */
export function TimelineCard({ timeline }: { readonly timeline: CallTimelineState }) {
  const events = timeline.events.value;
  const visibleEvents = events.filter(({ type }) => type !== "signalling");
  const messages = events.filter((event) => event.type === "signalling");
  const startedAt = events[0]?.timestamp;
  return (
    <Card title={t.value.timeline.title}>
      {timeline.fault.value !== undefined && <Notice tone="bad">{faultSentence(timeline.fault.value)}</Notice>}
      {visibleEvents.length === 0 && timeline.fault.value === undefined && (
        <p class="quiet">{t.value.timeline.waiting}</p>
      )}
      <ol class="timeline">
        {visibleEvents.map((event) => (
          <li key={event.id} class={toneOf(event)}>
            <span class="timeline-at number">{t.value.timeline.offset(offset(event, startedAt))}</span>
            <span>{eventText(event, t.value)}</span>
          </li>
        ))}
      </ol>
      {messages.length > 0 && (
        <details class="timeline-messages">
          <summary>{t.value.timeline.signalling(messages.length)}</summary>
          <ol class="stack">
            {messages.map((event) => (
              <li key={event.id}>
                <p class="small quiet">
                  {t.value.timeline.offset(offset(event, startedAt))} · {eventText(event, t.value)}
                </p>
                {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
                <pre tabIndex={0}>{event.type === "signalling" && event.data.message}</pre>
              </li>
            ))}
          </ol>
        </details>
      )}
    </Card>
  );
}

function offset({ timestamp }: CallEvent, startedAt: string | undefined): string {
  return secondsOf(Date.parse(timestamp) - Date.parse(startedAt ?? timestamp));
}

function toneOf({ type }: CallEvent): string | undefined {
  if (type === "answered" || type === "completed") return "timeline-good";
  if (type === "failed") return "timeline-bad";
  if (type.startsWith("listening_")) return "timeline-note";
  return undefined;
}
