import { useId } from "preact/hooks";
import { formatDuration } from "../../dictionary/format.ts";
import { t } from "./texts.ts";
import { PARTS, type Peaks } from "./use-peaks.ts";

const LANE = 100;
const STEP_MS = 5_000;
const LEAP_MS = 30_000;

/** The waveform of a file with its playback position: a slider for keyboards, clickable with pointers. */
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
  const lanes = peaks.peaks.map((channel, lane) => laneOf(channel, lane * LANE + LANE / 2));
  const at = durationMs === 0 ? 0 : (PARTS * positionMs) / durationMs;
  const seek = (ms: number): void => onSeek(Math.max(0, Math.min(durationMs, ms)));
  const byKey = (event: KeyboardEvent): void => {
    const to = {
      ArrowRight: positionMs + STEP_MS,
      ArrowUp: positionMs + STEP_MS,
      ArrowLeft: positionMs - STEP_MS,
      ArrowDown: positionMs - STEP_MS,
      PageUp: positionMs + LEAP_MS,
      PageDown: positionMs - LEAP_MS,
      Home: 0,
      End: durationMs,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    seek(to);
  };
  const byPointer = (event: PointerEvent & { readonly currentTarget: HTMLElement }): void => {
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
      onKeyDown={byKey}
      onPointerDown={byPointer}
      onPointerMove={byPointer}
    >
      <svg viewBox={`0 0 ${PARTS} ${LANE * Math.max(1, lanes.length)}`} preserveAspectRatio="none" aria-hidden="true">
        <clipPath id={id}>
          <rect x={0} y={0} width={at} height={LANE * lanes.length} />
        </clipPath>
        {lanes.map((path, lane) => (
          <path key={`rest ${sides[lane]}`} class="waveform-rest" d={path} />
        ))}
        <g clip-path={`url(#${id})`}>
          {lanes.map((path, lane) => (
            <path key={`played ${sides[lane]}`} class={`waveform-${lane}`} d={path} />
          ))}
        </g>
        <line class="waveform-at" x1={at} x2={at} y1={0} y2={LANE * lanes.length} />
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

/** The outline of a channel around a middle line; quiet parts are drawn larger than they are, so that they can be seen. */
function laneOf(channel: Float32Array, middle: number): string {
  const heights = Array.from(channel, (level) => Math.max(0.8, level ** 0.6 * (LANE / 2 - 4)));
  const above = heights.map((height, part) => `${part} ${(middle - height).toFixed(1)}`);
  const below = heights.map((height, part) => `${part} ${(middle + height).toFixed(1)}`).reverse();
  return `M${above.join("L")}L${below.join("L")}Z`;
}
