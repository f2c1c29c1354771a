import { expect, test } from "vitest";
import { tone } from "../../../../src/audio/tones/tone.ts";
import { callees, type Script } from "../../../support/sip/far-end.ts";
import type { Voice } from "../../../support/sip/voice.ts";
import { Scene } from "./scene.ts";

const NUMBER = "+12025550100";
const LOSS_MS = 1_000;
const MESSAGE_MS = 3_000;

/** Plays a message three times as long as `mediaLossMs` to a silent callee; expects that all of it is received. */
async function expectHeard(callee: Script, afterConnect: (voice: Voice) => void = () => {}) {
  const scene = await Scene.open({ mediaLossMs: LOSS_MS }, { callees: { "*": callee } });
  const { leg, events, playout, recorder } = await scene.call(NUMBER);
  playout.enqueue(tone(440, MESSAGE_MS, leg.sampleRate, 8_000));
  playout.silence(100);
  playout.end();
  await events.next("connected", 5_000);
  const peerCall = scene.farEnd.calls[0]!;
  afterConnect(peerCall.voice!);
  await Promise.race([playout.whenDrained, events.next("media_lost", 10_000).catch(() => {})]);
  const statistics = leg.statistics?.();
  await leg.hangUp();
  await events.over;
  expect(events.types).not.toContain("media_lost");
  const loudCount = peerCall.heard.filter((sample) => Math.abs(sample) > 1_000).length;
  expect(loudCount).toBeGreaterThan(0.9 * 8 * MESSAGE_MS * 0.9); // a sine is this loud for nine tenths of the time
  return { recorder, statistics, peerCall };
}

test("a phone that sends only comfort noise gets the whole message", async () => {
  const { recorder, statistics } = await expectHeard({ says: "comfort noise" });
  expect(statistics).toMatchObject({ packetsInvalid: 0, packetsLost: 0 });
  expect(statistics?.packetsReceived).toBeGreaterThan(10);
  expect(recorder.frames.length).toBeGreaterThan(100);
  expect(recorder.heard().every((sample) => sample === 0)).toBe(true);
});

test("a phone that sends only RTCP gets the whole message", async () => {
  const { statistics } = await expectHeard(callees.silent, (voice) => {
    for (let ms = 400; ms < MESSAGE_MS; ms += 400) setTimeout(() => voice.report(), ms);
  });
  expect(statistics).toMatchObject({ packetsReceived: 0, packetsInvalid: 0 });
});

test.each([200, 405, 501])(
  "a PBX that sends no packet, but responds to OPTIONS with %i, gets the whole message",
  async (options) => {
    const { statistics, peerCall } = await expectHeard({ ...callees.silent, options });
    expect(statistics).toMatchObject({ packetsReceived: 0, packetsInvalid: 0 });
    expect(peerCall.count("OPTIONS")).toBeGreaterThanOrEqual(2);
  },
);

test.each([
  [481, /^no audio at all .* for 1 s \(mediaLossMs\).*; it responded to OPTIONS with 481$/],
  [408, /; it responded to OPTIONS with 408$/],
  ["silence", /; it did not respond to OPTIONS for 4 s$/],
] as const)("a peer that sends no packet loses the call if its response to OPTIONS is %s", async (options, detail) => {
  const scene = await Scene.open({ mediaLossMs: LOSS_MS }, { callees: { "*": { ...callees.silent, options } } });
  const { leg, events } = await scene.call(NUMBER);
  await events.next("connected", 5_000);
  const mediaLost = await events.next("media_lost", 10_000);
  expect(mediaLost.detail).toMatch(detail);
  await leg.hangUp();
});
