import { describe, expect, test } from "vitest";
import { CallTaps } from "../../../src/application/call-audio/call-tap.ts";
import { InboundAnalyzer } from "../../../src/application/call-audio/inbound-analyzer.ts";
import { encodeMulaw } from "../../../src/audio/samples/g711-companding.ts";
import { dtmfTones } from "../../../src/audio/tones/dtmf.ts";
import { Vad } from "../../../src/audio/voice/vad.ts";
import { random } from "../../support/random.ts";
import { PEER, peerSettings, sessionAt } from "./session-on-a-clock.ts";

const RATE = 8_000;
const PACKET_MS = 20;
const PACKET = 160;

/** A caller who presses keys at a PBX that plays them as tones. */
interface Keys {
  readonly keys: string;
  readonly toneMs: number;
  readonly pauseMs: number;
  /** True if the PBX sends silence between the tones. Default: false. */
  readonly sendsSilence?: boolean;
  /** Beginning of the tones within a packet, ms. Default: 0. */
  readonly offsetMs?: number;
  /** Time of our first frame after the first packet was sent, ms. Default: 7. */
  readonly phaseMs?: number;
  /** Sample rate of the call's frames. Default: 8000 Hz. */
  readonly legRate?: number;
  /** Delays of a packet, ms: empty if it is lost. Default: 20. @param toneIndex the packet's number within the tone */
  readonly delays?: (toneIndex: number, chance: () => number) => readonly number[];
}

/** Keys detected in such a call. */
function detect({ keys, toneMs, pauseMs, delays = () => [20], ...options }: Keys): { keys: string; speech: number } {
  const { sendsSilence = false, offsetMs = 0, phaseMs = 7, legRate = RATE } = options;
  const chance = random(toneMs + pauseMs);
  const detections = { keys: "", speech: 0 };
  const analyzer = new InboundAnalyzer(
    { sampleRate: legRate, inBandDtmf: () => true, voiceActivity: (rate) => new Vad(rate) },
    {
      onFirstAudio() {},
      onBeep() {},
      onLineTone() {},
      onSuspicionChange() {},
      onDigit: (digit) => {
        detections.keys += digit;
      },
      onSpeech: () => void detections.speech++,
    },
  );
  const arrivals: { readonly at: number; readonly packet: Buffer }[] = [];
  let sequence = 65_530;
  const send = (atMs: number, payload: Uint8Array, ms: readonly number[]): void => {
    const packet = rtp(sequence++, atMs, payload);
    for (const delay of ms) arrivals.push({ at: atMs + delay, packet: Buffer.from(packet) });
  };
  let atMs = 0;
  for (; atMs < 400; atMs += PACKET_MS) send(atMs, encodeMulaw(new Int16Array(PACKET)), [20]);
  for (const key of keys) {
    const tone = new Int16Array(Math.ceil((offsetMs + toneMs) / PACKET_MS) * PACKET);
    tone.set(dtmfTones(key, { sampleRate: RATE, toneMs, pauseMs: 0 }), offsetMs * 8);
    for (let from = 0; from < tone.length; from += PACKET, atMs += PACKET_MS)
      send(atMs, encodeMulaw(tone.subarray(from, from + PACKET)), delays(from / PACKET, chance));
    for (const end = atMs + pauseMs; atMs < end; atMs += PACKET_MS)
      if (sendsSilence) send(atMs, encodeMulaw(new Int16Array(PACKET)), delays(-1, chance));
  }
  arrivals.sort((a, b) => a.at - b.at);

  let now = 0;
  const session = sessionAt(() => now, legRate);
  session.connect({ read: (frame) => frame.fill(0).length }, new CallTaps(legRate, [analyzer]));
  session.configure(peerSettings());
  session.start();
  let nextArrival = 0;
  for (let dueAt = phaseMs; dueAt < atMs + 1_000; dueAt += PACKET_MS) {
    for (; nextArrival < arrivals.length && arrivals[nextArrival]!.at <= dueAt; nextArrival++) {
      now = arrivals[nextArrival]!.at;
      session.datagram(arrivals[nextArrival]!.packet, PEER.address, PEER.port);
    }
    now = dueAt;
    session.tick();
  }
  analyzer.finish();
  return detections;
}

function rtp(sequence: number, atMs: number, payload: Uint8Array): Buffer {
  const packet = Buffer.alloc(12 + payload.length);
  packet[0] = 0x80;
  packet.writeUInt16BE(sequence & 0xffff, 2);
  packet.writeUInt32BE((0xffff_f000 + atMs * 8) % 2 ** 32, 4);
  packet.writeUInt32BE(7, 8);
  packet.set(payload, 12);
  return packet;
}

const PHASES = [0, 3, 7, 13, 19];
const OFFSETS = [0, 2, 5, 9, 12, 15];

/** Expects the keys for each phase of our clock and each offset of the tones in the packets. */
function expectKeys(pressed: string, keys: Omit<Keys, "keys" | "phaseMs" | "offsetMs">, expected = pressed): void {
  const isResampled = keys.legRate !== RATE;
  for (const phaseMs of isResampled ? [7] : PHASES)
    for (const offsetMs of isResampled ? [0, 5, 12] : OFFSETS)
      expect(
        detect({ keys: pressed, ...keys, phaseMs, offsetMs }),
        `${pressed}, ${keys.toneMs} ms and ${keys.pauseMs} ms, phase ${phaseMs}, offset ${offsetMs}`,
      ).toEqual({ keys: expected, speech: 0 });
}

const RHYTHMS = [
  [60, 60],
  [80, 100],
  [100, 100],
  [100, 260],
  [200, 1_200],
] as const;

describe.each([8_000, 16_000])("at %i Hz, keys as tones in the audio", (legRate) => {
  test.each(RHYTHMS)("of %i ms arrive once if the PBX pauses silently for %i ms", (toneMs, pauseMs) => {
    for (const keys of ["159*0#", "1599#", "000"]) expectKeys(keys, { toneMs, pauseMs, legRate });
  });

  test.each(RHYTHMS)("of %i ms arrive once if silence is sent in the pauses of %i ms", (toneMs, pauseMs) => {
    expectKeys("1599#", { toneMs, pauseMs, legRate, sendsSilence: true });
  });

  test.each([true, false])(
    "arrive once if packets in the middle of each tone are lost (silence sent: %s)",
    (sendsSilence) => {
      for (const lostPackets of [[1], [2], [1, 2], [2, 3]])
        expectKeys("159*0#99", {
          ...{ toneMs: 120, pauseMs: 100, legRate, sendsSilence },
          delays: (toneIndex) => (lostPackets.includes(toneIndex) ? [] : [20]),
        });
    },
  );

  test("arrive once if the first or the last packet of each tone is lost", () => {
    for (const lostIndex of [0, 4])
      expectKeys("159*0#99", {
        toneMs: 100,
        pauseMs: 100,
        legRate,
        delays: (toneIndex) => (toneIndex === lostIndex ? [] : [20]),
      });
  });

  test("arrive once despite reordering, duplicates and delays", () => {
    expectKeys("159*0#99", {
      toneMs: 100,
      pauseMs: 200,
      legRate,
      delays: (toneIndex) => (toneIndex % 2 === 1 ? [45] : [20]),
    });
    expectKeys("159*0#99", { toneMs: 100, pauseMs: 200, legRate, delays: () => [20, 30] });
    expectKeys("159*0#99", { toneMs: 100, pauseMs: 200, legRate, delays: (_, chance) => [20 + 25 * chance()] });
  });
});
