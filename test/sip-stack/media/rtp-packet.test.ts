import * as fc from "fast-check";
import { expect, test } from "vitest";
import { RtpPacket, writeRtpHeader } from "../../../adapters/sip-stack/media/rtp-packet.ts";
import { fuzz } from "../../support/fuzz.ts";

function parsed(bytes: readonly number[], length = bytes.length): RtpPacket | undefined {
  const packet = new RtpPacket();
  return packet.parse(Uint8Array.from(bytes), length) ? packet : undefined;
}

const HEADER = [0x80, 0x80, 0x12, 0x34, 0xff, 0, 0, 1, 0xde, 0xad, 0xbe, 0xef];

test("a packet is read without padding or extension", () => {
  expect(parsed([...HEADER, 1, 2, 3])).toMatchObject({
    marker: true,
    payloadType: 0,
    sequence: 0x1234,
    timestamp: 0xff000001,
    ssrc: 0xdeadbeef,
    payloadAt: 12,
    payloadLength: 3,
  });
  const [, ...rest] = HEADER;
  const sources = [1, 1, 1, 1, 2, 2, 2, 2];
  const extension = [0xbe, 0xde, 0, 1, 9, 9, 9, 9];
  expect(parsed([0xb2, ...rest, ...sources, ...extension, 7, 7, 0, 2])).toMatchObject({
    payloadAt: 28,
    payloadLength: 2,
  });
});

test("truncated packets, or ones that declare more than they have, are rejected", () => {
  const [, ...rest] = HEADER;
  expect(parsed(HEADER.slice(0, 11))).toBeUndefined();
  expect(parsed([0x40, ...rest])).toBeUndefined();
  expect(parsed([0x8f, ...rest])).toBeUndefined();
  expect(parsed([0x90, ...rest, 0, 0, 0, 9])).toBeUndefined();
  expect(parsed([0xa0, ...rest, 0])).toBeUndefined();
  expect(parsed([0xa0, ...rest, 1, 9])).toBeUndefined();
  expect(parsed(HEADER, 13)).toBeUndefined();
});

fuzz(
  "a header that was written reads the same",
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
  "no bytes lead outside of themselves",
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
