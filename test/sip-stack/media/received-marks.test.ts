import { expect, test } from "vitest";
import { writeRtpHeader } from "../../../adapters/sip-stack/media/rtp-packet.ts";
import { SAMPLE } from "../../../src/ports/media.ts";
import { PEER, peerSettings, sessionAt } from "./session-on-a-clock.ts";

const LOST = 20;
const PACKETS = 40;

test.each([8_000, 16_000])("at %i Hz, only frames around a lost packet have marks", (sampleRate) => {
  let now = 0;
  const call = sessionAt(() => now, sampleRate);
  const marksOf: (Uint8Array | undefined)[] = [];
  call.connect({ read: () => 0 }, { write: (_, marks) => marksOf.push(marks?.slice()) });
  call.configure(peerSettings());
  call.start();
  for (let n = 0; n < PACKETS; n++) {
    now = n * 20 + 5;
    const packet = new Uint8Array(172).fill(0x30);
    writeRtpHeader(packet, 0, n === 0, n, n * 160, 77);
    if (n !== LOST) call.datagram(packet, PEER.address, PEER.port);
    now = n * 20 + 10;
    call.tick();
  }
  const firstReceived = marksOf.indexOf(undefined);
  const marked = [...marksOf.keys()].filter((frame) => frame > firstReceived && marksOf[frame] !== undefined);
  expect(firstReceived).toBeGreaterThanOrEqual(0);
  expect(firstReceived).toBeLessThan(8);
  const received = marksOf.length - firstReceived;
  expect(received).toBeGreaterThan(PACKETS - 8);
  expect(marked.length).toBeGreaterThan(0);
  expect(marked.length).toBeLessThanOrEqual(4);
  const filledIn = marked.flatMap((frame) => [...marksOf[frame]!]).filter((mark) => mark === SAMPLE.filledIn).length;
  const frame = sampleRate / 50;
  expect(filledIn).toBeGreaterThanOrEqual(frame);
  expect(filledIn).toBeLessThan(frame * 1.6);
});
