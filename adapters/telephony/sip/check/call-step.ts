import { tone, toneShare } from "../../../../src/audio/tones/tone.ts";
import { within } from "../../../../src/base/timers.ts";
import type { Logger } from "../../../../src/ports/logger.ts";
import type { System } from "../../../../src/ports/system.ts";
import { DialError, type LegEvent, type MediaStatistics, NO_DEADLINES } from "../../../../src/ports/telephony.ts";
import { createEngine } from "../../../sip-stack/media/create-engine.ts";
import type { ResolvedTrunk } from "../config/resolve-trunk.ts";
import type { SipLeg } from "../leg.ts";
import { SipTrunk } from "../sip-trunk.ts";
import { callFix, MEDIA_FROM, NAT, ONLY_REPORTS, TRACE } from "./fixes.ts";
import { brokenStep, type CheckStep, faultMessage, passedStep } from "./step.ts";

const RING_TIMEOUT_MS = 45_000;
const CONNECTED_MS = 3_000;
const ONLINE_TIMEOUT_MS = 10_000;
const TONE_HZ = 440;
const TONE_AMPLITUDE = 8_000;

interface Parts {
  readonly system: System;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Calls a number, plays a tone for a few seconds, listens, and hangs up. */
export async function callStep(resolvedTrunk: ResolvedTrunk, number: string, parts: Parts): Promise<CheckStep> {
  const { system, signal } = parts;
  const engine = await createEngine(parts);
  const trunk = new SipTrunk({ trunk: resolvedTrunk, media: async () => engine, ...parts });
  let leg: SipLeg | undefined;
  const hangUp = (): void => void leg?.hangUp();
  signal.addEventListener("abort", hangUp);
  try {
    const createTimeoutError = () => new Error(`no answer within ${ONLINE_TIMEOUT_MS / 1_000} s`);
    const health = await within(trunk.checkHealth(), {
      system,
      ms: ONLINE_TIMEOUT_MS,
      timeoutError: createTimeoutError,
      signal,
    });
    if (health.state === "offline") return brokenStep("call", `the trunk is offline: ${health.reason}`, TRACE);
    leg = await trunk.dial(number, { callId: "sip-check", deadlines: NO_DEADLINES }, signal, () => {});
    if (signal.aborted) hangUp();
    return await runCall(leg, number, system);
  } catch (fault) {
    const cause = fault instanceof DialError ? `${fault.release}: ` : "";
    return brokenStep("call", `${number} could not be called (${cause}${faultMessage(fault)})`, TRACE);
  } finally {
    signal.removeEventListener("abort", hangUp);
    await trunk.close();
    await engine.close();
  }
}

async function runCall(leg: SipLeg, number: string, system: System): Promise<CheckStep> {
  const { sampleRate } = leg;
  const sound = tone(TONE_HZ, 1_000, sampleRate, TONE_AMPLITUDE);
  const receivedSamples = new Int16Array((sampleRate * CONNECTED_MS) / 1_000);
  let playedCount = 0;
  let receivedCount = 0;
  leg.connectMedia(
    {
      read(frame) {
        for (let i = 0; i < frame.length; i++) frame[i] = sound[playedCount++ % sound.length] ?? 0;
        return frame.length;
      },
    },
    {
      write(frame) {
        const count = Math.min(frame.length, receivedSamples.length - receivedCount);
        for (let i = 0; i < count; i++) receivedSamples[receivedCount++] = frame[i] ?? 0;
      },
    },
  );
  const startedAt = system.monotonic();
  const cancelRingTimer = system.after(RING_TIMEOUT_MS, () => void leg.hangUp());
  let cancelHangUp = () => {};
  let answeredMs: number | undefined;
  let end: Extract<LegEvent, { type: "ended" }> | undefined;
  let lossDetail: string | undefined;
  let refusal: string | undefined;
  for await (const event of leg.events) {
    if (event.type === "answered") {
      answeredMs = Math.round(system.monotonic() - startedAt);
      cancelRingTimer();
      cancelHangUp = system.after(CONNECTED_MS, () => void leg.hangUp());
    }
    if (event.type === "noted" && event.fact.event === "media.address_refused") refusal = event.fact.data.detail;
    if (event.type === "media_lost") {
      lossDetail = event.detail;
      void leg.hangUp();
    }
    if (event.type === "ended") end = event;
  }
  cancelRingTimer();
  cancelHangUp();
  if (answeredMs === undefined) {
    const reason = end?.detail ?? end?.cause ?? "unknown";
    return brokenStep("call", `${number} did not answer: ${reason}`, callFix(leg.end));
  }
  const statistics = leg.statistics();
  const finding = `${number} answered after ${answeredMs} ms; ${statistics === null ? "there are no audio statistics" : statisticsText(statistics)}`;
  const summary = refusal === undefined ? finding : `${finding}; ${refusal}`;
  if (end?.cause !== "released" && end?.cause !== "callee_hung_up")
    return brokenStep("call", `${summary}; then: ${end?.detail ?? end?.cause}`, callFix(leg.end));
  if (!statistics || statistics.packetsReceived === 0) {
    if (leg.evidence().kind === "rtcp")
      return brokenStep("call", `${summary}; only reports (RTCP) came back`, ONLY_REPORTS);
    return brokenStep(
      "call",
      lossDetail === undefined ? summary : `${summary}; ${lossDetail}`,
      refusal === undefined ? NAT : MEDIA_FROM,
    );
  }
  const echo = hasTone(receivedSamples.subarray(receivedCount >> 1, receivedCount), TONE_HZ, sampleRate);
  return passedStep("call", echo ? `${summary}; our tone came back, so audio works in both directions` : summary);
}

function statisticsText(statistics: MediaStatistics): string {
  const { codec, packetsSent, packetsReceived, packetsLost, jitterMs, roundTripMs } = statistics;
  const share = (100 * packetsLost) / Math.max(1, packetsReceived + packetsLost);
  return [
    `${codec}, ${packetsSent} packets sent, ${packetsReceived} received`,
    `${packetsLost} lost (${share.toFixed(1)} %)`,
    `jitter ${jitterMs.toFixed(1)} ms`,
    ...(roundTripMs === null ? [] : [`round trip ${Math.round(roundTripMs)} ms`]),
  ].join(", ");
}

const PIECE_MS = 100;

/**
 * True if most of a sound is a tone. Jitter buffers on the path shift its phase, so each piece of 100 ms is examined
 * separately.
 */
export function hasTone(sound: Int16Array, hz: number, sampleRate: number): boolean {
  const size = (sampleRate * PIECE_MS) / 1_000;
  const pieces = Math.floor(sound.length / size);
  let matches = 0;
  for (let index = 0; index < pieces; index++)
    if (toneShare(sound.subarray(index * size, (index + 1) * size), hz, sampleRate) > 0.5) matches++;
  return matches > pieces / 2;
}
