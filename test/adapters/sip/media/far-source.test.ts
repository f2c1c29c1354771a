import { describe, expect, test } from "vitest";
import { FarSource } from "../../../../adapters/telephony/sip/media/far-source.ts";
import { RtpPacket, writeRtpHeader } from "../../../../adapters/telephony/sip/media/rtp-packet.ts";
import { canonicalAddress } from "../../../../adapters/telephony/sip/transport/canonical-address.ts";

const AGREED = { address: "192.0.2.9", port: 5_000 };
const BEHIND_NAT = { address: "198.51.100.7", port: 33_000 };
const STRANGER = { address: "203.0.113.1", port: 4_444 };

function listening(): (from: typeof AGREED, sequence: number, now: number, ssrc?: number) => string {
  const source = new FarSource();
  source.negotiated(AGREED);
  const bytes = new Uint8Array(20);
  const packet = new RtpPacket();
  return ({ address, port }, sequence, now, ssrc = 1) => {
    writeRtpHeader(bytes, 0, false, sequence, sequence * 160, ssrc);
    packet.parse(bytes, bytes.length);
    const verdict = source.judge(packet, bytes, bytes.length, address, port, now);
    const held = verdict === "begins" && source.heldLength > 0 ? ", one held" : "";
    return `${verdict}${held} → ${source.address === AGREED.address ? "agreed" : source.address}`;
  };
}

describe("the source of the far side's audio", () => {
  test("is believed at once at the agreed address", () => {
    const judge = listening();
    expect(judge(AGREED, 1, 0)).toBe("begins → agreed");
    expect(judge(AGREED, 2, 20)).toBe("present → agreed");
  });

  test("is believed elsewhere with the second packet in a row, and nothing of it is lost", () => {
    const judge = listening();
    expect(judge(BEHIND_NAT, 7, 0)).toBe("held → agreed");
    expect(judge(BEHIND_NAT, 8, 20)).toBe(`begins, one held → ${BEHIND_NAT.address}`);
    expect(judge(BEHIND_NAT, 9, 40)).toBe(`present → ${BEHIND_NAT.address}`);
  });

  test("moves once only, and back to the agreed address", () => {
    const judge = listening();
    judge(BEHIND_NAT, 7, 0);
    judge(BEHIND_NAT, 8, 20);
    expect(judge(STRANGER, 1, 1_000)).toBe(`foreign → ${BEHIND_NAT.address}`);
    expect(judge(STRANGER, 2, 1_020)).toBe(`foreign → ${BEHIND_NAT.address}`);
    expect(judge(AGREED, 1, 1_040)).toBe(`held → ${BEHIND_NAT.address}`);
    expect(judge(AGREED, 2, 1_060)).toBe("begins, one held → agreed");
  });

  test("is not taken over by a stranger while it speaks", () => {
    const judge = listening();
    judge(AGREED, 1, 0);
    for (let i = 0; i < 50; i++) {
      expect(judge(STRANGER, i, i * 20 + 5, 9)).toBe("foreign → agreed");
      expect(judge(AGREED, 2 + i, i * 20 + 10)).toBe("present → agreed");
    }
  });

  test("may change at its address, but not while the one before goes on", () => {
    const judge = listening();
    judge(AGREED, 1, 0, 1);
    expect(judge(AGREED, 100, 20, 2)).toBe("held → agreed");
    expect(judge(AGREED, 2, 21, 1)).toBe("present → agreed");
    expect(judge(AGREED, 101, 40, 2)).toBe("held → agreed");
    expect(judge(AGREED, 102, 60, 2)).toBe("begins, one held → agreed");
  });

  test("holds no stranger's packet for the agreed one's", () => {
    const judge = listening();
    expect(judge(STRANGER, 1, 0, 9)).toBe("held → agreed");
    expect(judge(AGREED, 1, 10, 1)).toBe("begins → agreed");
  });
});

test("addresses are compared as sockets write them", () => {
  expect(canonicalAddress("2001:DB8:0:0::1")).toBe("2001:db8::1");
  expect(canonicalAddress("fe80::1%eth0")).toBe("fe80::1%eth0");
  expect(canonicalAddress("192.0.2.1")).toBe("192.0.2.1");
  expect(canonicalAddress("Not:An:Address")).toBe("not:an:address");
});
