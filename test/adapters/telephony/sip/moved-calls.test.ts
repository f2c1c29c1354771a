import { describe, expect, test } from "vitest";
import type { Trunk } from "../../../../adapters/telephony/sip/config/trunk-config.ts";
import { tone, toneShare } from "../../../../src/audio/tones/tone.ts";
import type { FarEndCall, Script } from "../../../support/sip/far-end.ts";
import { Scene } from "./scene.ts";

const NUMBER = "+12025550100";

/** Places a call to a phone that already sends audio. */
async function startCall(trunk: Partial<Trunk> = {}, script: Script = {}) {
  const scene = await Scene.open(trunk, { callees: { "*": { says: { hz: 1_000 }, ...script } } });
  const { leg, events, playout, recorder } = await scene.call(NUMBER);
  await events.next("connected", 5_000);
  await scene.network.until(() => recorder.frames.length > 10, "its voice");
  return { scene, leg, events, playout, recorder, peerCall: scene.farEnd.calls[0]! };
}

/** Calls a phone, lets a PBX move the call with `move`, and expects audio in both directions afterwards. */
async function expectCallContinues(
  trunk: Partial<Trunk>,
  move: (peerCall: FarEndCall, sleep: (ms: number) => Promise<void>) => Promise<unknown>,
): Promise<void> {
  const { scene, leg, events, playout, recorder, peerCall } = await startCall(trunk);
  peerCall.voice!.leave();
  await move(peerCall, scene.network.sleep);
  const frameCount = recorder.frames.length;
  peerCall.voice!.rejoin();
  playout.enqueue(tone(440, 500, leg.sampleRate, 8_000));
  playout.end();
  await playout.whenDrained;
  await scene.network.until(() => toneShare(recorder.heard().subarray(-1_600), 1_000, 8_000) > 0.9, "the other phone");
  expect(recorder.frames.length).toBeGreaterThan(frameCount);
  const loudCount = (): number => peerCall.heard.filter((sample) => Math.abs(sample) > 1_000).length;
  await scene.network.until(() => loudCount() > 0.9 * 4_000 * 0.9, "our audio at that phone");
  await leg.hangUp();
  await events.over;
  expect(events.types).not.toContain("media_lost");
  expect([events.cause, peerCall.end]).toEqual(["released", "caller hung up"]);
}

describe("an RTCP BYE", () => {
  test("ends a source, not a call that a PBX moves", async () => {
    await Promise.all([
      expectCallContinues({}, (_, sleep) => sleep(6_000)),
      // Neither a hold nor a new negotiation counts as silence.
      expectCallContinues({ mediaLossMs: 2_000 }, async (peerCall, sleep) => {
        await peerCall.reinvite("sendonly");
        await sleep(6_000);
        await peerCall.reinvite("sendrecv");
      }),
      expectCallContinues({ mediaLossMs: 4_000 }, async (peerCall, sleep) => {
        await sleep(3_000);
        await peerCall.reinvite("sendrecv");
        await sleep(3_000);
      }),
    ]);
  });

  test("is named in the detail if no other source follows", async () => {
    const { events, peerCall } = await startCall({ mediaLossMs: 2_000 }, { options: 481 });
    const leftAt = performance.now();
    peerCall.voice!.leave();
    const { detail } = await events.next("media_lost", 5_000);
    expect(detail).toMatch(/for 2 s.*RTCP BYE/);
    expect(performance.now() - leftAt).toBeGreaterThan(1_900);
  });
});
