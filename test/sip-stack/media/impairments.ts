import type { ImpairedCall, ImpairedCallOptions } from "./impaired-call.ts";

/** A network for calls, and the limits of their quality. */
export interface Impairment extends Pick<ImpairedCallOptions, "conditions" | "ppm"> {
  readonly title: string;
  /** Maximum per minute: concealed audio, ms, and gaps. */
  readonly concealedMs: number;
  readonly gaps: number;
  /** Maximum delay beyond the network's minimum, ms. */
  readonly delayMs: number;
  /** True if the E-model does not cover the impairment: no packet is lost. */
  readonly beyondModel?: boolean;
}

const delayMs = 20;

export const IMPAIRMENTS: readonly Impairment[] = [
  { title: "no loss", conditions: { delayMs }, concealedMs: 0, gaps: 0, delayMs: 60 },
  ...[1, 3, 5, 10, 20].map((percent) => ({
    title: `${percent} % lost at random`,
    conditions: { delayMs, loss: percent / 100 },
    ...{ concealedMs: 850 * percent, gaps: 2 + 0.4 * percent ** 2, delayMs: 60 },
  })),
  ...[1, 3, 5, 10, 20].map((percent) => ({
    title: `${percent} % lost, in bursts of 3 packets on average`,
    conditions: { delayMs, loss: percent / 100, meanBurst: 3 },
    ...{ concealedMs: 850 * percent, gaps: 8 * percent, delayMs: 60 },
  })),
  { title: "30 ms of jitter", conditions: { delayMs, jitterMs: 30 }, concealedMs: 30, gaps: 0, delayMs: 70 },
  {
    title: "10 % reordered, 30 ms late",
    conditions: { delayMs, reordered: 0.1, reorderDelayMs: 30 },
    ...{ concealedMs: 30, gaps: 0, delayMs: 70 },
  },
  { title: "10 % duplicated", conditions: { delayMs, duplicates: 0.1 }, concealedMs: 0, gaps: 0, delayMs: 60 },
  {
    title: "a stall of 200 ms, every 5 s",
    conditions: { delayMs, stallEveryMs: 5_000, stallMs: 200 },
    ...{ concealedMs: 3_400, gaps: 14, delayMs: 200, beyondModel: true },
  },
  {
    title: "everything at once: 3 % in bursts, 30 ms of jitter, 5 % reordered, 5 % duplicated",
    conditions: {
      delayMs,
      loss: 0.03,
      meanBurst: 3,
      jitterMs: 30,
      reordered: 0.05,
      reorderDelayMs: 30,
      duplicates: 0.05,
    },
    ...{ concealedMs: 2_600, gaps: 24, delayMs: 90 },
  },
  ...[200, -200].map((ppm) => ({
    title: `the sender's clock ${ppm > 0 ? "fast" : "slow"} by 200 millionths`,
    conditions: { delayMs },
    ...{ ppm, concealedMs: 40, gaps: 0, delayMs: 100 },
  })),
];

const BEST_R = 93.2;
const G711_ROBUSTNESS = 25.1;
const PACKET_MS = 20;

/** The MOS of G.711 by the E-model (ITU-T G.107 with default values), from the network's losses and the received audio. */
export function eModel({ loss, meanBurst, delayMs: extraDelayMs }: ImpairedCall): number {
  const oneWayMs = extraDelayMs + delayMs + PACKET_MS;
  const burstRatio = Math.max(1, meanBurst * (1 - loss));
  const percent = 100 * loss;
  const r =
    BEST_R -
    0.024 * oneWayMs -
    (oneWayMs > 177.3 ? 0.11 * (oneWayMs - 177.3) : 0) -
    (95 * percent) / (percent / burstRatio + G711_ROBUSTNESS);
  return 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6;
}
