import { expect, test } from "vitest";
import { writeRtpHeader } from "../../../adapters/sip-stack/media/rtp-packet.ts";
import { RtpSession } from "../../../adapters/sip-stack/media/rtp-session.ts";
import { MediaClock } from "../../../src/audio/playout/media-clock.ts";
import { decodeMulaw, encodeMulaw } from "../../../src/audio/samples/g711-companding.ts";
import { concatPcm } from "../../../src/audio/samples/pcm.ts";
import type { System } from "../../../src/ports/system.ts";
import { NO_DEADLINES } from "../../../src/ports/telephony.ts";
import { whiteNoise } from "../../audio/noise.ts";
import { find } from "./simulated-network.ts";
import { LOOPBACK, settingsTo } from "./two-ends.ts";

const FAR_PORT = 5_000;

/** A session whose time, ticks and datagrams the test controls. */
function session() {
  const time = { now: 0 };
  const system: System = {
    now: () => time.now,
    monotonic: () => time.now,
    random: (bytes) => void bytes.fill(3),
    after: () => () => {},
  };
  const heard: Int16Array[] = [];
  const reports: string[] = [];
  const session = new RtpSession({
    address: LOOPBACK,
    ports: [1, 2],
    sampleRate: 8000,
    lossMs: 20_000,
    system,
    clock: new MediaClock(system),
    deadlines: NO_DEADLINES,
    sockets: { port: 1, send() {}, sendRtcp() {}, openRtcp() {}, close: async () => {} },
    listener: {
      sending() {},
      receiving() {},
      digit() {},
      silent: (detail) => reports.push(detail),
      lost: (detail) => reports.push(detail),
    },
    onClosed() {},
  });
  session.connect({ read: () => 0 }, { write: (frame) => heard.push(frame.slice()) });
  session.configure(settingsTo(FAR_PORT));
  session.start();
  return { session, time, reports, heard: () => concatPcm(heard) };
}

test.each([45, 100, 210, 390])("a stall of %i ms loses no packet and counts no jitter", (stallMs) => {
  const { session: call, time, heard, reports } = session();
  const clip = whiteNoise(8000 * 6, 8000, 5);
  const frames = clip.length / 160;
  let receivedCount = 0;
  let tickCount = 0;
  for (let now = 1; now < frames * 20; now++) {
    // The thread stalls once a second: due work happens after it, ticks before datagrams.
    if (now % 1_000 < stallMs && now > 1_000) continue;
    time.now = now;
    for (; tickCount * 20 + 7 <= now; tickCount++) call.tick();
    for (; receivedCount * 20 + 13 <= now; receivedCount++) {
      const packet = new Uint8Array(172);
      writeRtpHeader(packet, 0, false, receivedCount, receivedCount * 160, 9);
      packet.set(encodeMulaw(clip.subarray(receivedCount * 160, receivedCount * 160 + 160)), 12);
      call.datagram(packet, LOOPBACK, FAR_PORT);
    }
  }
  const expected = decodeMulaw(encodeMulaw(clip.subarray(0, 160 * (frames - 25))));
  expect(find(heard(), expected)).toBeGreaterThanOrEqual(0);
  expect(call.statistics()).toMatchObject({ packetsLost: 0, packetsReordered: 0 });
  expect(call.statistics().jitterMs).toBeLessThan(1);
  expect(reports).toEqual([]);
});
