import { describe, expect, test } from "vitest";
import { tone, toneShare } from "../../../../src/audio/tones/tone.ts";
import type { Script } from "../../../support/sip/far-end.ts";
import { Scene } from "./scene.ts";

const NUMBER = "+12025550100";
const RATE = 16_000;
/** Frequency above the range of a codec at 8 kHz. */
const MESSAGE_HZ = 5_000;
const CALLEE_HZ = 6_000;
const G722 = { codecs: ["G722", "PCMU"] } as const;

/** Half a second of a sound, from shortly after its first loud sample. */
function loudHalfSecond(samples: Int16Array): Int16Array {
  const first = samples.findIndex((sample) => Math.abs(sample) > 2_000);
  return samples.subarray(first + RATE / 10, first + RATE / 10 + RATE / 2);
}

describe("a callee with G.722", () => {
  test.each(["thread", "worker"] as const)("exchanges audio above 4 kHz with the media in a %s", async (media) => {
    const callee: Script = { codecs: ["G722"], says: { hz: CALLEE_HZ } };
    const scene = await Scene.open(G722, { callees: { "*": callee } }, media);
    const { leg, playout, recorder } = await scene.call(NUMBER);
    expect(leg.sampleRate).toBe(RATE);
    playout.enqueue(tone(MESSAGE_HZ, 1_000, RATE, 8_000));
    playout.end();
    await playout.whenDrained;
    await scene.network.until(() => recorder.frames.length > 60, "more than a second of the callee");
    await leg.hangUp();
    const peerCall = scene.farEnd.calls[0]!;
    expect(toneShare(loudHalfSecond(peerCall.heard), MESSAGE_HZ, RATE)).toBeGreaterThan(0.95);
    expect(peerCall.heard.filter((sample) => Math.abs(sample) > 1_000).length).toBeGreaterThan(0.85 * RATE * 0.9);
    expect(toneShare(loudHalfSecond(recorder.heard()), CALLEE_HZ, RATE)).toBeGreaterThan(0.95);
    // The RTP clock is 8 kHz nevertheless, and a packet of 20 ms has one byte per unit.
    const audio = peerCall.voice!.packets.filter(({ payloadType }) => payloadType === 9);
    expect(new Set(audio.map(({ payload }) => payload.length))).toEqual(new Set([160]));
    const steps = audio.slice(1).map(({ timestamp }, i) => (timestamp - audio[i]!.timestamp) >>> 0);
    expect(new Set(steps)).toEqual(new Set([160]));
    expect(leg.statistics?.()).toMatchObject({ codec: "G722", packetsLost: 0, packetsInvalid: 0 });
  });

  test("exchanges keys with us", async () => {
    const acts: Script["acts"] = (call) => call.voice?.press("19#");
    const scene = await Scene.open(G722, { callees: { "*": { codecs: ["G722"], acts } } });
    const { leg, events } = await scene.call(NUMBER);
    await events.next("connected", 5_000);
    await leg.sendDtmf?.("45*");
    await scene.network.until(() => events.keys === "19#", "its keys");
    await scene.network.until(() => scene.farEnd.calls[0]!.voice?.keys === "45*", "our keys at the callee");
    await leg.hangUp();
  });

  test("gets no G.722 offer by default", async () => {
    const scene = await Scene.open({}, { callees: { "*": { codecs: ["G722", "PCMA"] } } });
    const { leg, events } = await scene.call(NUMBER);
    await events.next("connected", 5_000);
    await leg.hangUp();
    expect([leg.sampleRate, leg.codec, leg.statistics?.()?.codec]).toEqual([8_000, "PCMA", "PCMA"]);
  });
});
