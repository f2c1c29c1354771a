import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PeerHosts } from "../../../adapters/sip-stack/media/peer-hosts.ts";
import { RemoteSource } from "../../../adapters/sip-stack/media/remote-source.ts";
import { RtpPacket, writeRtpHeader } from "../../../adapters/sip-stack/media/rtp-packet.ts";
import { canonicalAddress } from "../../../adapters/sip-stack/transport/addresses.ts";
import { fuzz } from "../../support/fuzz.ts";

const AGREED = { address: "192.0.2.9", port: 5_000 };
const OTHER_PORT = { address: AGREED.address, port: 5_100 };
const BEHIND_NAT = { address: "198.51.100.7", port: 33_000 };
const NEW_MAPPING = { address: "198.51.100.7", port: 44_000 };
const STRANGER = { address: "203.0.113.1", port: 4_444 };
type Place = typeof AGREED;

/** A source that receives; returns the verdict on a packet and the resulting target of our audio. @param server host of the signalling */
function listening({
  strict = false,
  authentic = false,
  named = false,
  agreed = AGREED,
  server = "",
  hosts = new PeerHosts({ named }),
} = {}) {
  if (server !== "") hosts.settle({ remote: agreed, remoteRtcp: agreed, signallingHosts: [server] });
  const source = new RemoteSource(hosts, strict);
  source.negotiated(agreed, 0);
  const bytes = new Uint8Array(20);
  const packet = new RtpPacket();
  const judge = ({ address, port }: Place, sequence: number, now: number, ssrc = 1): string => {
    writeRtpHeader(bytes, 0, false, sequence, sequence * 160, ssrc);
    packet.parse(bytes, bytes.length);
    const verdict = source.judge(packet, bytes, bytes.length, address, port, now, authentic);
    const count = verdict === "begins" ? source.held.length : 0;
    const held = count === 0 ? "" : `, ${count === 1 ? "one" : count} held`;
    const { target } = source;
    const at =
      target.address === agreed.address && target.port === agreed.port ? "agreed" : `${target.address}:${target.port}`;
    return `${verdict}${held} → ${at}`;
  };
  return Object.assign(judge, { source });
}

const at = ({ address, port }: Place): string => `${address}:${port}`;

describe("the source of the peer's audio", () => {
  test("is accepted immediately at the agreed address", () => {
    const judge = listening();
    expect(judge(AGREED, 1, 0)).toBe("begins → agreed");
    expect(judge(AGREED, 2, 20)).toBe("present → agreed");
  });

  test("is accepted elsewhere with its second packet, and loses none", () => {
    const judge = listening();
    expect(judge(BEHIND_NAT, 7, 0)).toBe("held → agreed");
    expect(judge(BEHIND_NAT, 8, 20)).toBe(`begins, one held → ${at(BEHIND_NAT)}`);
    expect(judge(BEHIND_NAT, 9, 40)).toBe(`present → ${at(BEHIND_NAT)}`);
    expect(judge.source.injected).toBe(0);
  });

  test("is accepted although another one interleaves: the first of two is considered", () => {
    const judge = listening();
    expect(judge(BEHIND_NAT, 7, 0, 1)).toBe("held → agreed");
    expect(judge(STRANGER, 70, 10, 2)).toBe("foreign → agreed");
    expect(judge(BEHIND_NAT, 8, 20, 1)).toBe(`begins, one held → ${at(BEHIND_NAT)}`);
  });

  test("is considered after another one that does not continue", () => {
    const judge = listening();
    expect(judge(STRANGER, 70, 0, 2)).toBe("held → agreed");
    for (let i = 0; i < 9; i++) expect(judge(BEHIND_NAT, 7 + i, 20 * i + 10, 1)).toBe("foreign → agreed");
    expect(judge(BEHIND_NAT, 17, 210, 1)).toBe("held → agreed");
    expect(judge(BEHIND_NAT, 18, 230, 1)).toBe(`begins, one held → ${at(BEHIND_NAT)}`);
  });

  test("is followed to another host after 200 ms of silence at the old one", () => {
    for (const authentic of [false, true]) {
      const judge = listening({ authentic });
      judge(BEHIND_NAT, 1, 0);
      judge(BEHIND_NAT, 2, 20);
      const verdict = authentic ? "present" : "foreign";
      for (let i = 1; i < 10; i++) expect(judge(STRANGER, 2 + i, 20 + 20 * i)).toBe(`${verdict} → ${at(BEHIND_NAT)}`);
      expect(judge(BEHIND_NAT, 12, 219)).toBe(`present → ${at(BEHIND_NAT)}`);
      expect(judge(STRANGER, 13, 418)).toBe(`${verdict} → ${at(BEHIND_NAT)}`);
      expect(judge(STRANGER, 14, 419)).toBe(`present → ${at(STRANGER)}`);
    }
  });

  test("is followed immediately, and repeatedly, if it continues at another port", () => {
    const judge = listening();
    judge(AGREED, 65_533, 0);
    expect(judge(OTHER_PORT, 65_534, 20)).toBe(`present → ${at(OTHER_PORT)}`);
    expect(judge(BEHIND_NAT, 65_535, 220)).toBe(`present → ${at(BEHIND_NAT)}`);
    expect(judge(NEW_MAPPING, 3, 240)).toBe(`present → ${at(NEW_MAPPING)}`);
    expect(judge(BEHIND_NAT, 4, 9_000)).toBe(`present → ${at(BEHIND_NAT)}`);
    expect(judge.source.injected).toBe(0);
  });

  test("does not continue elsewhere with a replayed or a distant packet", () => {
    const judge = listening();
    judge(AGREED, 100, 0);
    for (const sequence of [100, 99, 5_000]) expect(judge(STRANGER, sequence, 20)).toBe("foreign → agreed");
    expect(judge.source.injected).toBe(3);
  });

  test("wins again at the agreed address immediately", () => {
    const judge = listening();
    judge(BEHIND_NAT, 7, 0);
    judge(BEHIND_NAT, 8, 20);
    expect(judge(AGREED, 1, 25, 2)).toBe("begins → agreed");
    expect(judge(BEHIND_NAT, 9, 40)).toBe("foreign → agreed");
  });

  test("yields to five packets in a row only after 2 s of silence", () => {
    const judge = listening();
    judge(BEHIND_NAT, 7, 0);
    judge(BEHIND_NAT, 8, 20);
    expect(judge(STRANGER, 1, 2_019, 9)).toBe(`foreign → ${at(BEHIND_NAT)}`);
    for (let i = 2; i < 6; i++) expect(judge(STRANGER, i, 2_000 + i * 20, 9)).toBe(`held → ${at(BEHIND_NAT)}`);
    expect(judge.source.injected).toBe(5);
    expect(judge(STRANGER, 6, 2_120, 9)).toBe(`begins, one held → ${at(STRANGER)}`);
    expect(judge(STRANGER, 7, 2_140, 9)).toBe(`present → ${at(STRANGER)}`);
    expect(judge(BEHIND_NAT, 9, 2_150)).toBe(`begins → ${at(BEHIND_NAT)}`);
    expect(judge(STRANGER, 8, 2_160, 9)).toBe(`foreign → ${at(BEHIND_NAT)}`);
  });

  test("is preferred at a known host, with three packets in a row", () => {
    const judge = listening();
    judge(AGREED, 1, 0);
    expect(judge(STRANGER, 1, 3_000, 9)).toBe("held → agreed");
    for (let i = 0; i < 2; i++) {
      expect(judge(OTHER_PORT, 50 + i, 3_010 + 20 * i, 2)).toBe("held → agreed");
      expect(judge(STRANGER, 2 + i, 3_020 + 20 * i, 9)).toBe("foreign → agreed");
    }
    expect(judge(OTHER_PORT, 52, 3_050, 2)).toBe(`begins, one held → ${at(OTHER_PORT)}`);
  });

  test("is not taken over by strangers while speaking", () => {
    const judge = listening();
    judge(AGREED, 1, 0);
    for (let i = 0; i < 50; i++) {
      expect(judge(STRANGER, i, i * 20 + 5, 9)).toBe("foreign → agreed");
      expect(judge(AGREED, 2 + i, i * 20 + 10)).toBe("present → agreed");
    }
    expect(judge.source.injected).toBe(50);
  });

  test("may change at its address, but not while the previous one continues", () => {
    const judge = listening();
    judge(AGREED, 1, 0, 1);
    expect(judge(AGREED, 100, 20, 2)).toBe("held → agreed");
    expect(judge(AGREED, 2, 21, 1)).toBe("present → agreed");
    for (let i = 1; i <= 3; i++) expect(judge(AGREED, 100 + i, 20 + 20 * i, 2)).toBe("held → agreed");
    expect(judge(AGREED, 104, 101, 2)).toBe("begins, 3 held → agreed");
    expect(judge(AGREED, 105, 120, 2)).toBe("present → agreed");
  });

  test("regains its place immediately if it had only paused", () => {
    const judge = listening();
    judge(AGREED, 1, 0, 1);
    for (let i = 0; i < 50; i++) judge(AGREED, 100 + i, 20 + 20 * i, 2);
    expect(judge(AGREED, 2, 1_011, 1)).toBe("begins → agreed");
    for (let i = 0; i < 50; i++) {
      expect(judge(AGREED, 150 + i, 1_020 + 20 * i, 2)).toBe("held → agreed");
      expect(judge(AGREED, 3 + i, 1_031 + 20 * i, 1)).toBe("present → agreed");
    }
  });

  test("holds no stranger's packet for the agreed one's", () => {
    const judge = listening();
    expect(judge(STRANGER, 1, 0, 9)).toBe("held → agreed");
    expect(judge(AGREED, 1, 10, 1)).toBe("begins → agreed");
    expect(judge.source.injected).toBe(1);
  });

  test("is accepted at any address if authentic", () => {
    const judge = listening({ authentic: true });
    judge(AGREED, 1, 0);
    expect(judge(BEHIND_NAT, 9_000, 20)).toBe("present → agreed");
    expect(judge(BEHIND_NAT, 2, 200)).toBe(`present → ${at(BEHIND_NAT)}`);
    const moved = { address: STRANGER.address, port: 5_000 };
    for (let i = 0; i < 10; i++) expect(judge(moved, 70 + i, 219 + 20 * i, 2)).toBe(`held → ${at(BEHIND_NAT)}`);
    expect(judge(moved, 80, 419, 2)).toBe(`begins, 8 held → ${at(moved)}`);
    expect(judge.source.injected).toBe(0);
  });

  test("is only at the agreed address with strictRtp", () => {
    for (const authentic of [false, true]) {
      const judge = listening({ strict: true, authentic });
      for (let i = 0; i < 9; i++) expect(judge(BEHIND_NAT, i, i * 500)).toBe("foreign → agreed");
      expect(judge(AGREED, 10, 5_000)).toBe("begins → agreed");
      expect(judge(BEHIND_NAT, 11, 5_020)).toBe("foreign → agreed");
      expect(judge.source.injected).toBe(10);
    }
  });

  test("abandoned by a new negotiation does not return with its last packets", () => {
    const judge = listening();
    judge(AGREED, 1, 0);
    judge.source.negotiated(BEHIND_NAT, 10);
    for (let i = 2; i < 20; i++) expect(judge(AGREED, i, i * 20)).toBe(`foreign → ${at(BEHIND_NAT)}`);
    expect(judge(NEW_MAPPING, 7, 420, 2)).toBe(`held → ${at(BEHIND_NAT)}`);
    expect(judge(NEW_MAPPING, 8, 440, 2)).toBe(`begins, one held → ${at(NEW_MAPPING)}`);
    expect(judge.source.injected).toBe(0);
  });
});

describe("another host than the one in the SDP", () => {
  const SERVER = "192.0.2.200";
  const INSIDE = { address: "10.0.0.5", port: 5_000 };
  const UNKNOWN = { address: "0.0.0.0", port: 0 };
  /** Verdicts on packets from that host in one row, before and after 3 s of silence. */
  const verdicts = (judge: ReturnType<typeof listening>, from: Place): string[] => [
    ...[0, 1].map((i) => judge(from, 7 + i, 20 * i, 9)),
    ...[0, 1, 2, 3, 4, 5].map((i) => judge(from, 9 + i, 3_000 + 20 * i, 9)),
  ];

  test("gets no audio and is not heard if the SDP names the server's host", () => {
    const judge = listening({ server: AGREED.address });
    expect(new Set(verdicts(judge, STRANGER))).toEqual(new Set(["foreign → agreed"]));
    expect(judge.source).toMatchObject({ injected: 8, elsewhere: true });
  });

  test("gets no audio there even with the SSRC and the next number of the source", () => {
    const judge = listening({ server: AGREED.address });
    judge(AGREED, 1, 0, 1);
    expect(judge(STRANGER, 2, 10, 1)).toBe("foreign → agreed");
    expect(judge(AGREED, 2, 20, 1)).toBe("present → agreed");
    expect(judge(STRANGER, 3, 5_000, 1)).toBe("foreign → agreed");
  });

  test("is heard, and gets no audio, if the SDP names a public host that is not the server's", () => {
    const judge = listening({ server: SERVER });
    expect(new Set(verdicts(judge, STRANGER))).toEqual(
      new Set(["held → agreed", "begins, one held → agreed", "present → agreed"]),
    );
    expect(judge(AGREED, 1, 3_200, 1)).toBe("begins → agreed");
  });

  test("is followed if the SDP names a private host, or none", () => {
    const shared = ["192.0.0.4", "198.18.0.1"].map((address) => ({ ...INSIDE, address }));
    for (const agreed of [INSIDE, UNKNOWN, ...shared])
      expect(verdicts(listening({ server: SERVER, agreed }), BEHIND_NAT).at(-1)).toBe(`present → ${at(BEHIND_NAT)}`);
    const own = listening({ server: INSIDE.address, agreed: INSIDE });
    expect(verdicts(own, BEHIND_NAT).at(-1)).toBe("foreign → agreed");
  });

  test("is followed if it is the server's, if the operator names its network, or if authentic", () => {
    const server = { address: SERVER, port: 9_000 };
    expect(verdicts(listening({ server: SERVER }), server).at(-1)).toBe(`present → ${at(server)}`);
    for (const more of [{ named: true }, { authentic: true }]) {
      const judge = listening({ server: AGREED.address, ...more });
      expect(verdicts(judge, BEHIND_NAT).at(-1)).toBe(`present → ${at(BEHIND_NAT)}`);
    }
  });

  test("is abandoned if another response shows that the SDP names the server's host", () => {
    const hosts = new PeerHosts();
    hosts.settle({ remote: INSIDE, remoteRtcp: INSIDE, signallingHosts: [SERVER] });
    const judge = listening({ hosts, agreed: INSIDE });
    expect(verdicts(judge, BEHIND_NAT).at(-1)).toBe(`present → ${at(BEHIND_NAT)}`);
    judge.source.negotiated(INSIDE, 4_000);
    expect(judge.source.isAt(BEHIND_NAT.address, BEHIND_NAT.port)).toBe(true);
    hosts.settle({ remote: INSIDE, remoteRtcp: INSIDE, signallingHosts: [INSIDE.address] });
    judge.source.negotiated(INSIDE, 4_000);
    expect(judge(BEHIND_NAT, 15, 4_020, 9)).toBe("foreign → agreed");
  });

  test("is found in IPv6 too, whatever the form of the addresses", () => {
    const agreed = { address: "2001:DB8:0:0::1", port: 5_000 };
    const judge = listening({ server: "2001:db8::1", agreed });
    expect(new Set(verdicts(judge, { address: "2001:db8::2", port: 5_000 }))).toEqual(
      new Set(["foreign → 2001:db8::1:5000"]),
    );
    const mapped = listening({ server: "::ffff:192.0.2.9", agreed: { address: "::FFFF:192.0.2.9", port: 5_000 } });
    expect(mapped(AGREED, 1, 0)).toBe("begins → 192.0.2.9:5000");
    expect(mapped(STRANGER, 1, 9_000)).toBe("foreign → 192.0.2.9:5000");
  });
});

/** Events on the network: time passes, the phone speaks or moves, a stranger sends. */
type Happening =
  | { readonly passes: number }
  | { readonly speaks: number }
  | { readonly moves: number }
  | { readonly stranger: number; readonly packets: number; readonly host: number };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({ passes: fc.oneof(fc.nat(100), fc.nat(5_000)) }),
  fc.record({ speaks: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ moves: fc.nat(3) }),
  fc.record({ stranger: fc.nat(2), packets: fc.integer({ min: 1, max: 8 }), host: fc.nat(4) }),
);

fuzz(
  "after each of its packets our audio goes to the phone, and never to a stranger while it speaks",
  fc.property(fc.array(happening, { maxLength: 80 }), (happenings) => {
    const judge = listening();
    const places = [AGREED, OTHER_PORT, BEHIND_NAT, NEW_MAPPING];
    let [now, place, reached, sequence, strangers, sent] = [0, AGREED, AGREED, 65_500, 0, 0]; // sent, but not by the peer so far
    let [reachedAt, spokeAt] = [0, 0];
    /** The phone's packet; only another host has to wait until the old place has been silent for 200 ms. */
    const speaks = (): void => {
      sequence = (sequence + 1) & 0xffff;
      const isAnother = place !== AGREED && place.address !== reached.address && judge.source.ssrc === 1;
      judge(place, sequence, now);
      if (isAnother && now - reachedAt < 200) sent++;
      else [reached, reachedAt, spokeAt, strangers] = [place, now, now, 0];
      expect(judge.source).toMatchObject({ ...reached, ssrc: 1 });
    };
    speaks();
    const sequences = [0, 30_000, 60_000];
    for (const one of happenings) {
      if ("passes" in one) now += one.passes;
      else if ("moves" in one) place = places[one.moves]!;
      else if ("speaks" in one) {
        for (let i = 0; i < one.speaks; i++, now += 20) speaks();
      } else
        for (let i = 0; i < one.packets; i++, now += 20) {
          const host = one.host === 0 ? AGREED.address : `203.0.113.${one.host}`;
          judge({ address: host, port: 9_000 + one.stranger }, sequences[one.stranger]!++, now, 90 + one.stranger);
          [strangers, sent] = [strangers + 1, sent + 1];
          const { ssrc } = judge.source;
          if (ssrc === 1) continue;
          expect(now - spokeAt).toBeGreaterThanOrEqual(2_000);
          expect(strangers).toBeGreaterThanOrEqual(3);
        }
      expect(judge.source.injected).toBeLessThanOrEqual(sent);
    }
    now += 20;
    speaks();
  }),
);

test("addresses are compared as sockets write them", () => {
  expect(canonicalAddress("2001:DB8:0:0::1")).toBe("2001:db8::1");
  expect(canonicalAddress("fe80::1%eth0")).toBe("fe80::1%eth0");
  expect(canonicalAddress("::FFFF:192.0.2.1")).toBe("192.0.2.1");
  expect(canonicalAddress("::ffff:c000:2ff")).toBe("192.0.2.255");
  expect(canonicalAddress("192.0.2.1")).toBe("192.0.2.1");
  expect(canonicalAddress("Not:An:Address")).toBe("not:an:address");
});
