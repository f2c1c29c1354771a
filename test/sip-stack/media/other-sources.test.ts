import { describe, expect, test } from "vitest";
import { Protection } from "../../../adapters/sip-stack/media/protection.ts";
import { newSrtpKeys } from "../../../adapters/sip-stack/media/srtp/sdes.ts";
import { encodeMulaw } from "../../../src/audio/samples/g711-companding.ts";
import { concatPcm, rms } from "../../../src/audio/samples/pcm.ts";
import { tone, toneShare } from "../../../src/audio/tones/tone.ts";
import { random } from "../../support/random.ts";
import { PEER, peerSettings, sessionAt } from "./session-on-a-clock.ts";

const RATE = 8_000;
const PACKET_MS = 20;
const PACKET = 160;
const SECONDS = 6;
const CALLEE_HZ = 1_000;
const OTHER_HZ = 433;

const CODED = new Map(
  [CALLEE_HZ, OTHER_HZ].map((hz) => [hz, encodeMulaw(tone(hz, SECONDS * 1_000, RATE, 10_000))] as const),
);

/** A packet from the callee's address: the callee's own (1), or with another SSRC. */
interface SentPacket {
  readonly atMs: number;
  readonly ssrc: number;
  readonly hz: number;
}

/** The audio of these packets, all from the callee's own address. */
function receive(packets: readonly SentPacket[], { srtp = false, phaseMs = 7 } = {}): Int16Array {
  const chance = random(3);
  const keys = newSrtpKeys("AES_CM_128_HMAC_SHA1_80", (bytes) => {
    for (let i = 0; i < bytes.length; i++) bytes[i] = Math.floor(256 * chance());
  });
  const sender = new Protection();
  if (srtp) sender.setKeys({ send: keys, receive: keys });
  const sequences = new Map<number, number>();
  let now = 0;
  const heard: Int16Array[] = [];
  const session = sessionAt(() => now);
  session.connect({ read: (frame) => frame.fill(0).length }, { write: (frame) => void heard.push(frame.slice()) });
  session.configure(peerSettings(srtp ? { srtp: { send: keys, receive: keys } } : {}));
  session.start();
  const ordered = [...packets].sort((a, b) => a.atMs - b.atMs);
  let next = 0;
  for (let dueAt = phaseMs; dueAt < SECONDS * 1_000; dueAt += PACKET_MS) {
    for (; next < ordered.length && ordered[next]!.atMs <= dueAt; next++) {
      const { atMs, ssrc, hz } = ordered[next]!;
      const sequence = sequences.get(ssrc) ?? 1_000 * ssrc;
      sequences.set(ssrc, sequence + 1);
      const from = Math.round((atMs * RATE) / 1_000);
      const payload = CODED.get(hz)!.subarray(from, from + PACKET);
      const packet = Buffer.alloc(12 + PACKET + 64);
      packet[0] = 0x80;
      packet.writeUInt16BE(sequence, 2);
      packet.writeUInt32BE(from + 100_000 * ssrc, 4);
      packet.writeUInt32BE(ssrc, 8);
      packet.set(payload, 12);
      const length = sender.protect(packet, 12 + PACKET);
      now = atMs;
      session.datagram(packet.subarray(0, length), PEER.address, PEER.port);
    }
    now = dueAt;
    session.tick();
  }
  return concatPcm(heard);
}

/** Longest stretch without the tone, between its first and last occurrence, ms. */
function longestGapMs(heard: Int16Array, hz: number): number {
  const step = PACKET / 2;
  let [maxGap, gap, hasBegun] = [0, 0, false];
  for (let at = 0; at + step <= heard.length; at += step) {
    const part = heard.subarray(at, at + step);
    if (rms(part) > 2_000 && toneShare(part, hz, RATE) > 0.8) {
      if (hasBegun) maxGap = Math.max(maxGap, gap);
      [gap, hasBegun] = [0, true];
    } else gap += (step * 1_000) / RATE;
  }
  return maxGap;
}

/** A packet every 20 ms. */
const steady = (ssrc: number, hz: number, fromMs: number, untilMs: number): SentPacket[] =>
  Array.from({ length: Math.ceil((untilMs - fromMs) / PACKET_MS) }, (_, i) => ({
    atMs: fromMs + i * PACKET_MS,
    ssrc,
    hz,
  }));

const CALLEE = steady(1, CALLEE_HZ, 0, 5_900);
const burst = (atMs: number, packets: number, ssrc: number): SentPacket[] =>
  Array.from({ length: packets }, (_, i) => ({ atMs: atMs + i * 0.1, ssrc, hz: OTHER_HZ }));

/** Packets from the callee's address besides its audio. */
const OTHER_SOURCES: readonly (readonly [string, readonly SentPacket[]])[] = [
  ["single packets", [1_003, 2_011, 2_500, 3_333].flatMap((at, i) => burst(at, 1, 20 + i))],
  ["bursts of another source", [1_003, 2_011, 2_500, 3_333].flatMap((at) => burst(at, 8, 20))],
  ["bursts, each of a new source", [1_003, 1_303, 1_603, 2_003].flatMap((at, i) => burst(at, 5, 20 + i))],
  [
    "pairs of packets between all of its own",
    Array.from({ length: 100 }, (_, i) => burst(1_005 + i * 40, 2, 20)).flat(),
  ],
  ["a second stream at the same pace", steady(20, OTHER_HZ, 1_009, 4_000)],
  ["a second stream at twice its pace", [...steady(20, OTHER_HZ, 1_004, 4_000), ...steady(20, OTHER_HZ, 1_014, 4_000)]],
  ["many streams", [20, 21, 22, 23].flatMap((ssrc, i) => steady(ssrc, OTHER_HZ, 1_001 + 4 * i, 4_000))],
];

describe.each([false, true])("a callee (SRTP: %s)", (srtp) => {
  test.each(OTHER_SOURCES)("is heard without a gap although its address also sends %s", (_, otherPackets) => {
    for (const phaseMs of [2, 7, 16])
      expect(
        longestGapMs(receive([...CALLEE, ...otherPackets], { srtp, phaseMs }), CALLEE_HZ),
        `phase ${phaseMs}`,
      ).toBe(0);
  });

  test("is heard again within 100 ms after a pause that another source has filled", () => {
    const packets = [
      ...steady(1, CALLEE_HZ, 0, 2_000),
      ...steady(1, CALLEE_HZ, 3_000, 5_900),
      ...steady(20, OTHER_HZ, 1_009, 5_000),
    ];
    for (const phaseMs of [2, 7, 16])
      expect(longestGapMs(receive(packets, { srtp, phaseMs }), CALLEE_HZ), `phase ${phaseMs}`).toBeLessThanOrEqual(
        1_000 + 100,
      );
  });

  test("is followed within 100 ms if it continues with another source", () => {
    for (const [pauseMs, phaseMs] of [
      [0, 7],
      [0, 16],
      [35, 7],
      [500, 2],
    ] as const) {
      const next = 2_000 + pauseMs;
      const heard = receive([...steady(1, CALLEE_HZ, 0, 2_000), ...steady(20, CALLEE_HZ, next, 5_900)], {
        srtp,
        phaseMs,
      });
      expect(longestGapMs(heard, CALLEE_HZ), `after ${pauseMs} ms`).toBeLessThanOrEqual(pauseMs + 100);
    }
  });
});
