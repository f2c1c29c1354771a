import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ntpMiddle, RTCP_BYTES, RtcpPacket, writeRtcp } from "../../../adapters/sip-stack/media/rtcp.ts";
import { fuzz } from "../../support/fuzz.ts";

const NOW = Date.UTC(2026, 0, 1, 12, 0, 0, 250);
const block = {
  ssrc: 0xfeedf00d,
  fractionLost: 64,
  lost: -3,
  highest: 70_000,
  jitter: 12,
  lastReport: 0xabcd0000,
  sinceLastReport: 65_536,
};

test("a report is read as written", () => {
  const bytes = new Uint8Array(RTCP_BYTES);
  const sender = { now: NOW, timestamp: 7, packets: 50, octets: 8_000 };
  const length = writeRtcp(bytes, { ssrc: 1, cname: "somebody", sender, block, goodbye: true });
  expect(length % 4).toBe(0);
  const packet = new RtcpPacket();
  expect(packet.parse(bytes, length, 0xfeedf00d)).toBe(true);
  expect(packet).toMatchObject({
    ssrc: 1,
    senderTime: ntpMiddle(NOW),
    senderPackets: 50,
    hasReport: true,
    fractionLost: 0.25,
    lost: -3,
    lastReport: 0xabcd0000,
    sinceLastReport: 65_536,
    goodbye: 1,
  });
  packet.parse(bytes, length, 5);
  expect(packet.hasReport).toBe(false);
});

test("a report without any traffic is an empty receiver report and a name", () => {
  const bytes = new Uint8Array(RTCP_BYTES);
  const length = writeRtcp(bytes, { ssrc: 9, cname: "abc", sender: undefined, block: undefined, goodbye: false });
  expect(Array.from(bytes.subarray(0, 8))).toEqual([0x80, 201, 0, 1, 0, 0, 0, 9]);
  expect(Array.from(bytes.subarray(8, length))).toEqual([0x81, 202, 0, 3, 0, 0, 0, 9, 1, 3, 97, 98, 99, 0, 0, 0]);
});

test("the longest report fits into RTCP_BYTES", () => {
  const bytes = new Uint8Array(RTCP_BYTES);
  const sender = { now: NOW, timestamp: 7, packets: 50, octets: 8_000 };
  const cname = "x".repeat(40);
  expect(writeRtcp(bytes, { ssrc: 1, cname, sender, block, goodbye: true })).toBeLessThanOrEqual(RTCP_BYTES);
});

fuzz(
  "parsing any bytes never throws",
  fc.property(
    fc.uint8Array({ maxLength: 200 }),
    fc.constantFrom(200, 201, 202, 203, 204),
    fc.nat(31),
    fc.nat(20),
    fc.nat(250),
    (bytes, type, count, words, length) => {
      if (bytes.length > 4) bytes.set([0x80 | count, type, 0, words]);
      const packet = new RtcpPacket();
      if (!packet.parse(bytes, length, 1)) return;
      expect(length).toBeLessThanOrEqual(bytes.length);
      expect(packet.fractionLost).toBeLessThan(1);
    },
  ),
);
