import { expect, test } from "vitest";
import { tone } from "../../../../src/audio/tones/tone.ts";
import { Scene } from "./scene.ts";

const NUMBER = "+12025550100";
/** A callee behind a NAT that also receives audio at the address in its SDP. */
const BEHIND_NAT = { "*": { says: { hz: 1_000 }, sendFrom: "127.0.0.2", mediaAt: "127.0.0.3" } };

test.each([
  [true, "is counted but not heard"],
  [false, "is heard"],
])("with strictRtp %s, audio from another address %s", async (strictRtp) => {
  const scene = await Scene.open({ strictRtp }, { callees: BEHIND_NAT });
  const { leg, events, playout, recorder } = await scene.call(NUMBER);
  await events.next("connected", 5_000);
  const [peerCall] = scene.farEnd.calls;
  playout.enqueue(tone(440, 500, leg.sampleRate, 8_000));
  playout.end();
  await playout.whenDrained;
  const statistics = leg.statistics!()!;
  expect(peerCall!.voice!.sentPackets).toBeGreaterThan(20);
  if (strictRtp) {
    const loudCount = (): number => peerCall!.heard.filter((sample) => Math.abs(sample) > 1_000).length;
    await scene.network.until(() => loudCount() > 0.9 * 4_000 * 0.9, "our audio at the address of its SDP");
    expect(recorder.frames.length).toBe(0);
    expect(statistics.packetsInjected).toBeGreaterThan(20);
  } else {
    expect(recorder.frames.length).toBeGreaterThan(10);
    expect(statistics.packetsInjected).toBe(0);
  }
  await leg.hangUp();
});
