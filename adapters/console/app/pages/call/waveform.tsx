import { useId } from "preact/hooks";
import { formatDuration } from "../../dictionary/format.ts";
import { t } from "./call-texts.ts";
import { PART_COUNT, type Peaks } from "./use-peaks.ts";

const LANE_HEIGHT = 100;
const STEP_MS = 5_000;
const PAGE_MS = 30_000;

/** A file's waveform with the playback position: a slider for keyboards, clickable with pointers. */
export function Waveform({
  peaks,
  positionMs,
  sides,
  onSeek,
}: {
  readonly peaks: Peaks;
  readonly positionMs: number;
  /** The names of the channels. */
  readonly sides: readonly string[];
  readonly onSeek: (ms: number) => void;
}) {
  const id = useId();
  const { durationMs } = peaks;
  const lanes = peaks.peaks.map((channel, lane) => laneOf(channel, lane * LANE_HEIGHT + LANE_HEIGHT / 2));
  const playedWidth = durationMs === 0 ? 0 : (PART_COUNT * positionMs) / durationMs;
  const seek = (ms: number): void => onSeek(Math.max(0, Math.min(durationMs, ms)));
  const onKeyDown = (event: KeyboardEvent): void => {
    const target = {
      ArrowRight: positionMs + STEP_MS,
      ArrowUp: positionMs + STEP_MS,
      ArrowLeft: positionMs - STEP_MS,
      ArrowDown: positionMs - STEP_MS,
      PageUp: positionMs + PAGE_MS,
      PageDown: positionMs - PAGE_MS,
      Home: 0,
      End: durationMs,
    }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    seek(target);
  };
  const onPointer = (event: PointerEvent & { readonly currentTarget: HTMLElement }): void => {
    if (event.type === "pointermove" && (event.buttons & 1) === 0) return;
    const { left, width } = event.currentTarget.getBoundingClientRect();
    seek(((event.clientX - left) / width) * durationMs);
  };
  return (
    <div
      class="waveform"
      role="slider"
      tabIndex={0}
      aria-label={t.value.audio.position}
      aria-valuemin={0}
      aria-valuemax={Math.round(durationMs / 1_000)}
      aria-valuenow={Math.round(positionMs / 1_000)}
      aria-valuetext={t.value.audio.at(formatDuration(positionMs), formatDuration(durationMs))}
      onKeyDown={onKeyDown}
      onPointerDown={onPointer}
      onPointerMove={onPointer}
    >
      <svg
        viewBox={`0 0 ${PART_COUNT} ${LANE_HEIGHT * Math.max(1, lanes.length)}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <clipPath id={id}>
          <rect x={0} y={0} width={playedWidth} height={LANE_HEIGHT * lanes.length} />
        </clipPath>
        {lanes.map((path, lane) => (
          <path key={`rest ${sides[lane]}`} class="waveform-rest" d={path} />
        ))}
        <g clip-path={`url(#${id})`}>
          {lanes.map((path, lane) => (
            <path key={`played ${sides[lane]}`} class={`waveform-${lane}`} d={path} />
          ))}
        </g>
        <line class="waveform-at" x1={playedWidth} x2={playedWidth} y1={0} y2={LANE_HEIGHT * lanes.length} />
      </svg>
      {lanes.length > 1 && (
        <div class="waveform-names" aria-hidden="true">
          {lanes.map((_, lane) => (
            <span key={sides[lane]}>{sides[lane]}</span>
          ))}
        </div>
      )}
    </div>
  );
}

/** Outline of a channel around a middle line; quiet parts are enlarged to stay visible. */
function laneOf(channel: Float32Array, middle: number): string {
  const heights = Array.from(channel, (level) => Math.max(0.8, level ** 0.6 * (LANE_HEIGHT / 2 - 4)));
  const upper = heights.map((height, part) => `${part} ${(middle - height).toFixed(1)}`);
  const lower = heights.map((height, part) => `${part} ${(middle + height).toFixed(1)}`).reverse();
  return `M${upper.join("L")}L${lower.join("L")}Z`;
}
