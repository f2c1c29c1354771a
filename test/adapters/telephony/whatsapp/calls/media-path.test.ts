import { memoryUsage } from "node:process";
import { expect, test } from "vitest";
import { WhatsAppCallAudio } from "../../../../../adapters/telephony/whatsapp/calls/whatsapp-call-audio.ts";
import { WHATSAPP_FRAME } from "../../../../../adapters/telephony/whatsapp/calls/whatsapp-frame.ts";
import { MediaClock } from "../../../../../src/audio/playout/media-clock.ts";
import { Playout } from "../../../../../src/audio/playout/playout.ts";
import type { WhatsAppVoip } from "../../../../../src/ports/whatsapp-client.ts";
import { ManualSystem } from "../../../../../src/testing/manual-system.ts";

const TICKS = 5_000;
/** Tolerated memory growth, bytes: less than one or two samples per frame in both directions. */
const MAX_BYTES = 16 << 10;

test("a frame in each direction costs no memory", () => {
  const system = new ManualSystem();
  let level = 0;
  const voip = {
    setMute() {},
    getFeedWatermarksMs: () => ({ pauseMs: 120, resumeMs: 60 }),
    feedLiveAudio: () => (level += 60),
    getLiveBufferMs: () => level,
  };
  const audio = new WhatsAppCallAudio({
    callId: "A1",
    system: { monotonic: () => 0 },
    clock: new MediaClock(system),
    deadlines: { send: Infinity },
    voip: () => voip as unknown as WhatsAppVoip,
    onStarted() {},
    onDrained() {},
    onError: (fault) => {
      throw fault;
    },
  });
  const playout = new Playout(16_000);
  const message = new Int16Array(WHATSAPP_FRAME * TICKS).fill(7);
  let receivedSamples = 0;
  audio.connect(playout, {
    write: (frame) => {
      receivedSamples += frame.length;
    },
  });
  audio.start();
  const pcm = new Float32Array(WHATSAPP_FRAME).fill(0.5);
  const run = (): number => {
    playout.enqueue(message);
    const before = memoryUsage().heapUsed + memoryUsage().arrayBuffers;
    for (let i = 0; i < TICKS; i++) {
      audio.receive(pcm);
      audio.tick();
      level = Math.max(0, level - 60);
    }
    return memoryUsage().heapUsed + memoryUsage().arrayBuffers - before;
  };
  run(); // until it is compiled
  const growth = Array.from({ length: 5 }, run);
  expect(Math.min(...growth.map(Math.abs))).toBeLessThan(MAX_BYTES);
  expect(receivedSamples).toBe((6 * TICKS - 1) * WHATSAPP_FRAME); // the first frame waits for a spare one
  expect(playout.heardMs).toBeGreaterThan(5 * TICKS * 60);
  audio.stop();
});
