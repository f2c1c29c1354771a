import * as fc from "fast-check";
import { expect, test } from "vitest";
import { RtpPacket, writeRtpHeader } from "../../../adapters/sip-stack/media/rtp-packet.ts";
import { fuzz } from "../../support/fuzz.ts";

function parsePacket(bytes: readonly number[], length = bytes.length): RtpPacket | undefined {
  const packet = new RtpPacket();
  return packet.parse(Uint8Array.from(bytes), length) ? packet : undefined;
}

const HEADER = [0x80, 0x80, 0x12, 0x34, 0xff, 0, 0, 1, 0xde, 0xad, 0xbe, 0xef];

test("a packet is read without padding or extension", () => {
  expect(parsePacket([...HEADER, 1, 2, 3])).toMatchObject({
    marker: true,
    payloadType: 0,
    sequence: 0x1234,
    timestamp: 0xff000001,
    ssrc: 0xdeadbeef,
    payloadAt: 12,
    payloadLength: 3,
  });
  const [, ...otherBytes] = HEADER;
  const sources = [1, 1, 1, 1, 2, 2, 2, 2];
  const extension = [0xbe, 0xde, 0, 1, 9, 9, 9, 9];
  expect(parsePacket([0xb2, ...otherBytes, ...sources, ...extension, 7, 7, 0, 2])).toMatchObject({
    payloadAt: 28,
    payloadLength: 2,
  });
});

test("packets that are truncated or declare too great a length are rejected", () => {
  const [, ...otherBytes] = HEADER;
  expect(parsePacket(HEADER.slice(0, 11))).toBeUndefined();
  expect(parsePacket([0x40, ...otherBytes])).toBeUndefined();
  expect(parsePacket([0x8f, ...otherBytes])).toBeUndefined();
  expect(parsePacket([0x90, ...otherBytes, 0, 0, 0, 9])).toBeUndefined();
  expect(parsePacket([0xa0, ...otherBytes, 0])).toBeUndefined();
  expect(parsePacket([0xa0, ...otherBytes, 1, 9])).toBeUndefined();
  expect(parsePacket(HEADER, 13)).toBeUndefined();
});

fuzz(
  "a written header reads the same",
  fc.property(
    fc.nat(127),
    fc.boolean(),
    fc.nat(0xffff),
    fc.nat(0xffffffff),
    fc.nat(0xffffffff),
    (payloadType, marker, sequence, timestamp, ssrc) => {
      const bytes = new Uint8Array(20);
      writeRtpHeader(bytes, payloadType, marker, sequence, timestamp, ssrc);
      const packet = new RtpPacket();
      expect(packet.parse(bytes, 20)).toBe(true);
      expect(packet).toMatchObject({ payloadType, marker, sequence, timestamp, ssrc, payloadAt: 12, payloadLength: 8 });
    },
  ),
);

fuzz(
  "parsing any bytes stays within them",
  fc.property(fc.uint8Array({ maxLength: 80 }), fc.nat(255), fc.nat(90), (bytes, first, length) => {
    if (bytes.length > 0) bytes[0] = first;
    const packet = new RtpPacket();
    if (!packet.parse(bytes, length)) {
      expect(packet.ssrc).toBe(-1);
      return;
    }
    expect(packet.payloadAt).toBeGreaterThanOrEqual(12);
    expect(packet.payloadLength).toBeGreaterThanOrEqual(0);
    expect(packet.payloadAt + packet.payloadLength).toBeLessThanOrEqual(Math.min(length, bytes.length));
  }),
);
