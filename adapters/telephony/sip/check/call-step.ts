import { tone, toneShare } from "../../../../src/audio/tones/tone.ts";
import { within } from "../../../../src/base/timers.ts";
import type { Logger } from "../../../../src/ports/logger.ts";
import type { System } from "../../../../src/ports/system.ts";
import { DialError, type LegEvent, type MediaStatistics, NO_DEADLINES } from "../../../../src/ports/telephony.ts";
import { createEngine } from "../../../sip-stack/media/create-engine.ts";
import type { ResolvedTrunk } from "../config/resolve-trunk.ts";
import type { SipLeg } from "../leg.ts";
import { SipTrunk } from "../trunk.ts";
import { callFix, MEDIA_FROM, NAT, ONLY_REPORTS, TRACE } from "./fixes.ts";
import { brokenStep, type CheckStep, faultMessage, passedStep } from "./step.ts";

const RING_MS = 45_000;
const TALK_MS = 3_000;
const ONLINE_MS = 10_000;
const TONE_HZ = 440;
const TONE_AMPLITUDE = 8_000;

interface Parts {
  readonly system: System;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Calls a number, plays a tone for a few seconds, listens, and hangs up. */
export async function callStep(resolved: ResolvedTrunk, number: string, parts: Parts): Promise<CheckStep> {
  const { system, signal } = parts;
  const engine = await createEngine(parts);
  const trunk = new SipTrunk({ trunk: resolved, media: async () => engine, ...parts });
  let leg: SipLeg | undefined;
  const hangUp = (): void => void leg?.hangUp();
  signal.addEventListener("abort", hangUp);
  try {
    const late = () => new Error(`no answer within ${ONLINE_MS / 1_000} s`);
    const health = await within(trunk.ask(), { system, ms: ONLINE_MS, late, signal });
    if (health.state === "offline") return brokenStep("call", `the trunk is offline: ${health.reason}`, TRACE);
    leg = await trunk.dial(number, { callId: "sip-check", deadlines: NO_DEADLINES }, signal, () => {});
    if (signal.aborted) hangUp();
    return await talk(leg, number, system);
  } catch (fault) {
    const cause = fault instanceof DialError ? `${fault.release}: ` : "";
    return brokenStep("call", `${number} could not be called (${cause}${faultMessage(fault)})`, TRACE);
  } finally {
    signal.removeEventListener("abort", hangUp);
    await trunk.close();
    await engine.close();
  }
}

async function talk(leg: SipLeg, number: string, system: System): Promise<CheckStep> {
  const { sampleRate } = leg;
  const sound = tone(TONE_HZ, 1_000, sampleRate, TONE_AMPLITUDE);
  const heard = new Int16Array((sampleRate * TALK_MS) / 1_000);
  let played = 0;
  let length = 0;
  leg.connectMedia(
    {
      read(frame) {
        for (let i = 0; i < frame.length; i++) frame[i] = sound[played++ % sound.length] ?? 0;
        return frame.length;
      },
    },
    {
      write(frame) {
        const room = Math.min(frame.length, heard.length - length);
        for (let i = 0; i < room; i++) heard[length++] = frame[i] ?? 0;
      },
    },
  );
  const from = system.monotonic();
  const tooLong = system.after(RING_MS, () => void leg.hangUp());
  let cancelTalk = () => {};
  let answeredMs: number | undefined;
  let ended: Extract<LegEvent, { type: "ended" }> | undefined;
  let lost: string | undefined;
  let refused: string | undefined;
  for await (const event of leg.events) {
    if (event.type === "answered") {
      answeredMs = Math.round(system.monotonic() - from);
      tooLong();
      cancelTalk = system.after(TALK_MS, () => void leg.hangUp());
    }
    if (event.type === "noted" && event.fact.event === "media.address_refused") refused = event.fact.data.detail;
    if (event.type === "media_lost") {
      lost = event.detail;
      void leg.hangUp();
    }
    if (event.type === "ended") ended = event;
  }
  tooLong();
  cancelTalk();
  if (answeredMs === undefined) {
    const why = ended?.detail ?? ended?.cause ?? "unknown";
    return brokenStep("call", `${number} did not answer: ${why}`, callFix(leg.end));
  }
  const statistics = leg.statistics();
  const found = `${number} answered after ${answeredMs} ms; ${statistics === null ? "there are no audio statistics" : text(statistics)}`;
  const summary = refused === undefined ? found : `${found}; ${refused}`;
  if (ended?.cause !== "released" && ended?.cause !== "callee_hung_up")
    return brokenStep("call", `${summary}; then: ${ended?.detail ?? ended?.cause}`, callFix(leg.end));
  if (!statistics || statistics.packetsReceived === 0) {
    if (leg.evidence().kind === "rtcp")
      return brokenStep("call", `${summary}; only reports (RTCP) came back`, ONLY_REPORTS);
    return brokenStep(
      "call",
      lost === undefined ? summary : `${summary}; ${lost}`,
      refused === undefined ? NAT : MEDIA_FROM,
    );
  }
  const echo = hasTone(heard.subarray(length >> 1, length), TONE_HZ, sampleRate);
  return passedStep("call", echo ? `${summary}; our tone came back, so audio works in both directions` : summary);
}

function text(statistics: MediaStatistics): string {
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
  let found = 0;
  for (let at = 0; at < pieces; at++)
    if (toneShare(sound.subarray(at * size, (at + 1) * size), hz, sampleRate) > 0.5) found++;
  return found > pieces / 2;
}
