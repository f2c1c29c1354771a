import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { Card } from "../../components/card.tsx";
import { Icon } from "../../components/icon.tsx";
import { Notice } from "../../components/notice.tsx";
import { Progress } from "../../components/waiting.tsx";
import { formatDuration } from "../../dictionary/format.ts";
import { t } from "./call-texts.ts";
import { usePeaks } from "./use-peaks.ts";
import { Waveform } from "./waveform.tsx";

/** A player for a WAV file on the server, with its waveform. Renders nothing if the server has no such file. */
export function Player({
  title,
  url,
  fileName,
  sides,
}: {
  readonly title: string;
  readonly url: string;
  readonly fileName: string;
  /** The names of the file's channels. */
  readonly sides: readonly string[];
}) {
  const audio = useRef<HTMLAudioElement>(null);
  const isPlaying = useSignal(false);
  const position = useSignal(0);
  const hasFailed = useSignal(false);
  const { value, fault } = usePeaks(url);
  const texts = t.value.audio;

  // The element reports its position only four times a second, so the position would jump.
  useEffect(() => {
    if (!isPlaying.value) return;
    let frame = requestAnimationFrame(function follow() {
      position.value = (audio.current?.currentTime ?? 0) * 1_000;
      frame = requestAnimationFrame(follow);
    });
    return () => cancelAnimationFrame(frame);
  }, [isPlaying.value]);

  if (fault.value === "missing") return null;
  const peaks = value.value;
  const seek = (ms: number): void => {
    position.value = ms;
    if (audio.current) audio.current.currentTime = ms / 1_000;
  };
  const toggle = (): void => {
    if (isPlaying.peek()) audio.current?.pause();
    else
      audio.current?.play().catch(() => {
        hasFailed.value = true;
      });
  };
  return (
    <Card
      title={title}
      actions={
        <a class="button button-quiet button-small" href={url} download={fileName}>
          {texts.download}
        </a>
      }
    >
      <div class="stack">
        {/* biome-ignore lint/a11y/useMediaCaption: the transcript of the call is next to it */}
        <audio
          ref={audio}
          // The element would never retry a file that is still being written.
          src={peaks ? url : undefined}
          preload="metadata"
          onPlay={() => {
            isPlaying.value = true;
          }}
          onPause={() => {
            isPlaying.value = false;
          }}
          onEnded={() => {
            isPlaying.value = false;
          }}
          onError={() => {
            hasFailed.value = true;
          }}
          onTimeUpdate={(event) => {
            position.value = event.currentTarget.currentTime * 1_000;
          }}
        />
        {peaks ? (
          <Waveform peaks={peaks} positionMs={position.value} sides={sides} onSeek={seek} />
        ) : (
          <div class="waveform waveform-empty" />
        )}
        {peaks && peaks.progress < 1 && fault.value === undefined && (
          <Progress label={texts.drawing} value={peaks.progress} />
        )}
        {(hasFailed.value || fault.value === "failed") && <Notice tone="warn">{texts.failed}</Notice>}
        <div class="row">
          <Button onClick={toggle} disabled={!peaks}>
            <Icon name={isPlaying.value ? "stop" : "play"} size={18} />
            {isPlaying.value ? texts.pause : texts.play}
          </Button>
          <span class="number">{texts.at(formatDuration(position.value), formatDuration(peaks?.durationMs ?? 0))}</span>
        </div>
        <p class="small quiet">{texts.keys}</p>
      </div>
    </Card>
  );
}
