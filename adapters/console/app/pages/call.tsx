import { useEffect } from "preact/hooks";
import { Button, LinkButton } from "../components/button.tsx";
import { Card } from "../components/card.tsx";
import { CodeBlock, CopyField } from "../components/copy.tsx";
import { Notice } from "../components/notice.tsx";
import { PageLayout } from "../components/page.tsx";
import { Loaded } from "../components/waiting.tsx";
import { callTypes } from "../dictionary/call-types.ts";
import { formatTime } from "../dictionary/format.ts";
import { client } from "../shell/client.ts";
import { confirm } from "../shell/confirm.tsx";
import { faultCode } from "../shell/fault-sentence.ts";
import { CONSOLE, href } from "../shell/place.ts";
import { signedIn } from "../shell/session.ts";
import { useData } from "../shell/use-data.ts";
import type { PageProps } from "./all-pages.ts";
import { ResultCard, TurnsCard } from "./call/agent.tsx";
import { t } from "./call/call-texts.ts";
import { ListenCard } from "./call/listen.tsx";
import { OutcomeCard } from "./call/outcome.tsx";
import { Player } from "./call/player.tsx";
import { QualityCard } from "./call/quality.tsx";
import { TimelineCard } from "./call/timeline.tsx";
import { TranscriptCard } from "./call/transcript.tsx";
import { useTimeline } from "./call/use-timeline.ts";

const EXPAND = ["outcome", "transcript", "media", "reference", "result", "metrics", "quality"] as const;
/** Interval for reading a conversation again, ms: no event announces a new transcript line. */
const TRANSCRIPT_POLL_MS = 2_500;
/** Interval for other calls, ms: no event announces new audio quality figures. */
const QUALITY_POLL_MS = 5_000;

export default function CallView({ params }: PageProps) {
  const callId = params.id ?? "";
  const call = useData(
    (signal) => client.calls.get(callId, { expand: EXPAND, signal }),
    (event) => event.call_id === callId && event.type !== "signalling",
    callId,
  );
  const timeline = useTimeline(callId);
  const currentCall = call.value.value;
  const pauseMs = currentCall?.type.startsWith("DYNAMIC_") ? TRANSCRIPT_POLL_MS : QUALITY_POLL_MS;
  const isTalking = currentCall?.status === "IN_PROGRESS";
  useEffect(() => {
    if (!isTalking) return;
    const timer = setInterval(() => document.hidden || void call.reload(), pauseMs);
    return () => clearInterval(timer);
  }, [isTalking, pauseMs, callId]);

  if (currentCall === undefined && faultCode(call.fault.value) === "call_not_found")
    return (
      <PageLayout title={t.value.facts.title}>
        <div class="stack">
          <Notice tone="warn">{t.value.missing}</Notice>
          <div>
            <LinkButton variant="quiet" to={href("/calls")}>
              {t.value.toCalls}
            </LinkButton>
          </div>
        </div>
      </PageLayout>
    );
  const title = currentCall ? t.value.title(currentCall.target_phone) : t.value.facts.title;
  return (
    <PageLayout title={title} actions={currentCall && <Actions call={currentCall} />}>
      <Loaded data={call} lines={8}>
        {(loadedCall) => <Cards call={loadedCall} timeline={timeline} />}
      </Loaded>
    </PageLayout>
  );
}

type ShownCall = Awaited<ReturnType<typeof client.calls.get<(typeof EXPAND)[number]>>>;
type CallTimeline = ReturnType<typeof useTimeline>;

const isEnded = ({ status }: Pick<ShownCall, "status">): boolean => status === "COMPLETED" || status === "FAILED";

function Actions({ call }: { readonly call: ShownCall }) {
  const hangUp = (): void =>
    confirm({
      title: t.value.hangUpTitle(call.target_phone),
      consequence: <p>{call.status === "QUEUED" ? t.value.hangUpWaiting : t.value.hangUpConsequence}</p>,
      action: t.value.hangUp,
      // A call that has ended in the meantime needs no hang-up.
      run: () =>
        client.calls.hangUp(call.id).catch((error: unknown) => {
          if (faultCode(error) !== "call_not_found") throw error;
        }),
    });
  return (
    <>
      {!isEnded(call) && (
        <Button variant="danger" icon="hangup" onClick={hangUp}>
          {t.value.hangUp}
        </Button>
      )}
      <LinkButton variant={isEnded(call) ? undefined : "quiet"} icon="call" to={href(`/calls/new?from=${call.id}`)}>
        {t.value.callAgain}
      </LinkButton>
    </>
  );
}

function Cards({ call, timeline }: { readonly call: ShownCall; readonly timeline: CallTimeline }) {
  const { id, type, media, transcript, result, metrics, quality } = call;
  const hasEnded = isEnded(call);
  const hasTalked = (call.outcome?.duration_ms ?? 0) > 0;
  const isAgent = type === "DYNAMIC_AGENT";
  return (
    <div class="call">
      <div class="stack">
        <OutcomeCard call={call} />
        {!hasEnded && <ListenCard callId={id} />}
        {media?.recording !== undefined && (hasTalked || !hasEnded) && (
          <RecordingCard call={call} timeline={timeline} />
        )}
        {hasEnded && hasTalked && signedIn.value?.simulator && (
          <Player
            title={t.value.audio.heard}
            url={`${CONSOLE}/simulator/calls/${id}/heard.wav`}
            fileName={`${id}-heard.wav`}
            sides={[t.value.audio.heard]}
          />
        )}
        {(transcript !== null || type.startsWith("DYNAMIC_")) && <TranscriptCard lines={transcript} />}
        {isAgent && (result !== null || call.result_error != null) && (
          <ResultCard result={result} error={call.result_error ?? null} />
        )}
        {isAgent && metrics !== null && metrics.turns.length > 0 && <TurnsCard metrics={metrics} />}
      </div>
      <div class="stack">
        <TimelineCard timeline={timeline} />
        {(hasTalked || call.status === "IN_PROGRESS") && (
          <QualityCard quality={quality} statistics={media?.stream ?? null} hasEnded={hasEnded} />
        )}
        <FactsCard call={call} />
        <CodeCard callId={id} />
      </div>
    </div>
  );
}

function RecordingCard({ call, timeline }: { readonly call: ShownCall; readonly timeline: CallTimeline }) {
  const texts = t.value.audio;
  if (call.media?.recording)
    return (
      <Player
        title={texts.recording}
        url={`${CONSOLE}/v1/calls/${call.id}/recording`}
        fileName={`${call.id}.wav`}
        sides={[texts.channels.played, texts.channels.callee]}
      />
    );
  const isDeleted = timeline.events.value.some(({ type }) => type === "recording_deleted");
  return (
    <Card title={texts.recording}>
      <p class="quiet">{!isEnded(call) ? texts.running : isDeleted ? texts.gone : texts.none}</p>
    </Card>
  );
}

function FactsCard({ call }: { readonly call: ShownCall }) {
  const { facts } = t.value;
  const { from, reference, metadata } = call;
  return (
    <Card title={facts.title}>
      <div class="stack">
        <dl class="facts">
          <dt>{facts.type}</dt>
          <dd>{callTypes[call.type].value.name}</dd>
          <dt>{facts.created}</dt>
          <dd>{formatTime(call.created_at)}</dd>
          {call.started_at && (
            <>
              <dt>{facts.answered}</dt>
              <dd>{formatTime(call.started_at)}</dd>
            </>
          )}
          {call.ended_at && (
            <>
              <dt>{facts.ended}</dt>
              <dd>{formatTime(call.ended_at)}</dd>
            </>
          )}
          {from && (
            <>
              <dt>{facts.caller}</dt>
              <dd>
                {[from.displayName, from.phoneNumber, from.withheld && facts.withheld].filter(Boolean).join(" · ")}
              </dd>
            </>
          )}
          {reference !== null && (
            <>
              <dt>{facts.reference}</dt>
              <dd>{reference}</dd>
            </>
          )}
          {Object.keys(metadata).length > 0 && (
            <>
              <dt>{facts.metadata}</dt>
              <dd>
                <code>{JSON.stringify(metadata)}</code>
              </dd>
            </>
          )}
        </dl>
        <CopyField label={facts.id} value={call.id} />
        <CopyField label={facts.instance} value={call.instance_id} />
        <p class="small">
          <a href={href(`/instances/${call.instance_id}`)}>{facts.openInstance}</a>
        </p>
      </div>
    </Card>
  );
}

function CodeCard({ callId }: { readonly callId: string }) {
  const { title, read, follow, tokenHint } = t.value.code;
  const call = `${signedIn.value?.api_url ?? ""}/v1/calls/${callId}`;
  const curl = (address: string, extraOptions = ""): string =>
    `curl -sS${extraOptions} "${address}" \\\n  -H "Authorization: Bearer $RINGPORT_TOKEN"`;
  return (
    <Card title={title}>
      <div class="stack">
        <p class="small quiet">{tokenHint}</p>
        <h3>{read}</h3>
        <CodeBlock label={read} code={curl(`${call}?expand=${EXPAND.join(",")}`)} />
        <h3>{follow}</h3>
        <CodeBlock label={follow} code={curl(`${call}/events`, ` -H "Prefer: wait=30"`)} />
      </div>
    </Card>
  );
}
