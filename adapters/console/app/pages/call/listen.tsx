import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { Notice } from "../../components/notice.tsx";
import { FaultNotice } from "../../components/waiting.tsx";
import { t } from "./call-texts.ts";
import { secondsOf } from "./event-text.ts";
import { Level } from "./level.tsx";
import { type ListeningState, useListening } from "./use-listening.ts";

/** Listens to the call until it ends: muted at first, with the levels of both sides. */
export function ListenCard({ callId }: { readonly callId: string }) {
  const listening = useListening(callId);
  const texts = t.value.listen;
  const state = listening.state.value;
  const isOpen = state === "connecting" || state === "waiting" || state === "on";
  return (
    <Card title={texts.title} actions={isOpen && <StateBadge listening={listening} />}>
      <div class="stack">
        <p class="small quiet">{texts.lead}</p>
        {listening.fault.value !== undefined && <FaultNotice error={listening.fault.value} />}
        {state === "ended" && <Notice>{texts.ended}</Notice>}
        {isOpen && listening.cannotPlay.value && <Notice tone="warn">{texts.noAudio}</Notice>}
        {listening.lostMs.value > 0 && <Notice tone="warn">{texts.gap(secondsOf(listening.lostMs.value))}</Notice>}
        {state === "on" && <Meters listening={listening} />}
        <div class="row">
          {isOpen && !listening.cannotPlay.value && (
            <Button
              icon={listening.muted.value ? "sound" : "quiet"}
              disabled={state !== "on"}
              onClick={() => listening.mute(!listening.muted.value)}
            >
              {listening.muted.value ? texts.unmute : texts.mute}
            </Button>
          )}
          {isOpen ? (
            <Button variant="quiet" icon="stop" onClick={listening.stop}>
              {texts.stop}
            </Button>
          ) : (
            state !== "ended" && (
              <Button icon="sound" variant="quiet" onClick={listening.start}>
                {texts.start}
              </Button>
            )
          )}
        </div>
      </div>
    </Card>
  );
}

function StateBadge({ listening }: { readonly listening: ListeningState }) {
  const texts = t.value.listen;
  const state = listening.state.value;
  if (state !== "on") return <Badge tone="info">{state === "waiting" ? texts.waiting : texts.connecting}</Badge>;
  return listening.muted.value ? (
    <Badge>{texts.muted}</Badge>
  ) : (
    <Badge tone="good" live>
      {texts.on}
    </Badge>
  );
}

function Meters({ listening }: { readonly listening: ListeningState }) {
  const { callee, played } = listening.levels.value;
  const texts = t.value.listen;
  return (
    <ul class="meters">
      {(
        [
          [texts.callee, callee],
          [texts.played, played],
        ] as const
      ).map(([side, level]) => (
        <li key={side}>
          <span class="small">{side}</span>
          <Level value={level} label={texts.level(side)} />
        </li>
      ))}
    </ul>
  );
}
