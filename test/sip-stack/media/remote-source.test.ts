import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PeerHosts } from "../../../adapters/sip-stack/media/peer-hosts.ts";
import { RemoteSource } from "../../../adapters/sip-stack/media/remote-source.ts";
import { RtpPacket, writeRtpHeader } from "../../../adapters/sip-stack/media/rtp-packet.ts";
import { canonicalAddress } from "../../../adapters/sip-stack/transport/addresses.ts";
import { fuzz } from "../../support/fuzz.ts";

const NEGOTIATED_ADDRESS = { address: "192.0.2.9", port: 5_000 };
const OTHER_PORT = { address: NEGOTIATED_ADDRESS.address, port: 5_100 };
const BEHIND_NAT = { address: "198.51.100.7", port: 33_000 };
const NEW_MAPPING = { address: "198.51.100.7", port: 44_000 };
const STRANGER = { address: "203.0.113.1", port: 4_444 };
type Place = typeof NEGOTIATED_ADDRESS;

/** Judges packets at a receiving source: returns the verdict and the resulting target of our audio. @param server host of the signalling */
function sourceAt({
  strict = false,
  authentic = false,
  hasNamedNetworks = false,
  negotiated = NEGOTIATED_ADDRESS,
  server = "",
  hosts = new PeerHosts({ hasNamedNetworks }),
} = {}) {
  if (server !== "") hosts.apply({ remote: negotiated, remoteRtcp: negotiated, signallingHosts: [server] });
  const source = new RemoteSource(hosts, strict);
  source.setRemote(negotiated, 0);
  const bytes = new Uint8Array(20);
  const packet = new RtpPacket();
  const judgePacket = ({ address, port }: Place, sequence: number, now: number, ssrc = 1): string => {
    writeRtpHeader(bytes, 0, false, sequence, sequence * 160, ssrc);
    packet.parse(bytes, bytes.length);
    const verdict = source.judge(packet, bytes, bytes.length, address, port, now, authentic);
    const count = verdict === "new" ? source.pending.length : 0;
    const pendingText = count === 0 ? "" : `, ${count === 1 ? "one" : count} pending`;
    const { target } = source;
    const targetText =
      target.address === negotiated.address && target.port === negotiated.port
        ? "agreed"
        : `${target.address}:${target.port}`;
    return `${verdict}${pendingText} → ${targetText}`;
  };
  return Object.assign(judgePacket, { source });
}

const textOf = ({ address, port }: Place): string => `${address}:${port}`;

describe("the source of the peer's audio", () => {
  test("is accepted immediately at the agreed address", () => {
    const judge = sourceAt();
    expect(judge(NEGOTIATED_ADDRESS, 1, 0)).toBe("new → agreed");
    expect(judge(NEGOTIATED_ADDRESS, 2, 20)).toBe("current → agreed");
  });

  test("is accepted elsewhere with its second packet, and loses none", () => {
    const judge = sourceAt();
    expect(judge(BEHIND_NAT, 7, 0)).toBe("pending → agreed");
    expect(judge(BEHIND_NAT, 8, 20)).toBe(`new, one pending → ${textOf(BEHIND_NAT)}`);
    expect(judge(BEHIND_NAT, 9, 40)).toBe(`current → ${textOf(BEHIND_NAT)}`);
    expect(judge.source.injected).toBe(0);
  });

  test("is accepted although another source interleaves: the first of the two is considered", () => {
    const judge = sourceAt();
    expect(judge(BEHIND_NAT, 7, 0, 1)).toBe("pending → agreed");
    expect(judge(STRANGER, 70, 10, 2)).toBe("foreign → agreed");
    expect(judge(BEHIND_NAT, 8, 20, 1)).toBe(`new, one pending → ${textOf(BEHIND_NAT)}`);
  });

  test("is considered after another source that does not continue", () => {
    const judge = sourceAt();
    expect(judge(STRANGER, 70, 0, 2)).toBe("pending → agreed");
    for (let i = 0; i < 9; i++) expect(judge(BEHIND_NAT, 7 + i, 20 * i + 10, 1)).toBe("foreign → agreed");
    expect(judge(BEHIND_NAT, 17, 210, 1)).toBe("pending → agreed");
    expect(judge(BEHIND_NAT, 18, 230, 1)).toBe(`new, one pending → ${textOf(BEHIND_NAT)}`);
  });

  test("is followed to another host after 200 ms of silence at the old one", () => {
    for (const authentic of [false, true]) {
      const judge = sourceAt({ authentic });
      judge(BEHIND_NAT, 1, 0);
      judge(BEHIND_NAT, 2, 20);
      const verdict = authentic ? "current" : "foreign";
      for (let i = 1; i < 10; i++)
        expect(judge(STRANGER, 2 + i, 20 + 20 * i)).toBe(`${verdict} → ${textOf(BEHIND_NAT)}`);
      expect(judge(BEHIND_NAT, 12, 219)).toBe(`current → ${textOf(BEHIND_NAT)}`);
      expect(judge(STRANGER, 13, 418)).toBe(`${verdict} → ${textOf(BEHIND_NAT)}`);
      expect(judge(STRANGER, 14, 419)).toBe(`current → ${textOf(STRANGER)}`);
    }
  });

  test("is followed immediately, and repeatedly, if it continues at another port", () => {
    const judge = sourceAt();
    judge(NEGOTIATED_ADDRESS, 65_533, 0);
    expect(judge(OTHER_PORT, 65_534, 20)).toBe(`current → ${textOf(OTHER_PORT)}`);
    expect(judge(BEHIND_NAT, 65_535, 220)).toBe(`current → ${textOf(BEHIND_NAT)}`);
    expect(judge(NEW_MAPPING, 3, 240)).toBe(`current → ${textOf(NEW_MAPPING)}`);
    expect(judge(BEHIND_NAT, 4, 9_000)).toBe(`current → ${textOf(BEHIND_NAT)}`);
    expect(judge.source.injected).toBe(0);
  });

  test("does not continue elsewhere with a replayed or a distant packet", () => {
    const judge = sourceAt();
    judge(NEGOTIATED_ADDRESS, 100, 0);
    for (const sequence of [100, 99, 5_000]) expect(judge(STRANGER, sequence, 20)).toBe("foreign → agreed");
    expect(judge.source.injected).toBe(3);
  });

  test("wins again at the agreed address immediately", () => {
    const judge = sourceAt();
    judge(BEHIND_NAT, 7, 0);
    judge(BEHIND_NAT, 8, 20);
    expect(judge(NEGOTIATED_ADDRESS, 1, 25, 2)).toBe("new → agreed");
    expect(judge(BEHIND_NAT, 9, 40)).toBe("foreign → agreed");
  });

  test("yields to five packets in a row only after 2 s of silence", () => {
    const judge = sourceAt();
    judge(BEHIND_NAT, 7, 0);
    judge(BEHIND_NAT, 8, 20);
    expect(judge(STRANGER, 1, 2_019, 9)).toBe(`foreign → ${textOf(BEHIND_NAT)}`);
    for (let i = 2; i < 6; i++) expect(judge(STRANGER, i, 2_000 + i * 20, 9)).toBe(`pending → ${textOf(BEHIND_NAT)}`);
    expect(judge.source.injected).toBe(5);
    expect(judge(STRANGER, 6, 2_120, 9)).toBe(`new, one pending → ${textOf(STRANGER)}`);
    expect(judge(STRANGER, 7, 2_140, 9)).toBe(`current → ${textOf(STRANGER)}`);
    expect(judge(BEHIND_NAT, 9, 2_150)).toBe(`new → ${textOf(BEHIND_NAT)}`);
    expect(judge(STRANGER, 8, 2_160, 9)).toBe(`foreign → ${textOf(BEHIND_NAT)}`);
  });

  test("is preferred at a known host, with three packets in a row", () => {
    const judge = sourceAt();
    judge(NEGOTIATED_ADDRESS, 1, 0);
    expect(judge(STRANGER, 1, 3_000, 9)).toBe("pending → agreed");
    for (let i = 0; i < 2; i++) {
      expect(judge(OTHER_PORT, 50 + i, 3_010 + 20 * i, 2)).toBe("pending → agreed");
      expect(judge(STRANGER, 2 + i, 3_020 + 20 * i, 9)).toBe("foreign → agreed");
    }
    expect(judge(OTHER_PORT, 52, 3_050, 2)).toBe(`new, one pending → ${textOf(OTHER_PORT)}`);
  });

  test("is not taken over by strangers while speaking", () => {
    const judge = sourceAt();
    judge(NEGOTIATED_ADDRESS, 1, 0);
    for (let i = 0; i < 50; i++) {
      expect(judge(STRANGER, i, i * 20 + 5, 9)).toBe("foreign → agreed");
      expect(judge(NEGOTIATED_ADDRESS, 2 + i, i * 20 + 10)).toBe("current → agreed");
    }
    expect(judge.source.injected).toBe(50);
  });

  test("may change at its address, but not while the previous one continues", () => {
    const judge = sourceAt();
    judge(NEGOTIATED_ADDRESS, 1, 0, 1);
    expect(judge(NEGOTIATED_ADDRESS, 100, 20, 2)).toBe("pending → agreed");
    expect(judge(NEGOTIATED_ADDRESS, 2, 21, 1)).toBe("current → agreed");
    for (let i = 1; i <= 3; i++) expect(judge(NEGOTIATED_ADDRESS, 100 + i, 20 + 20 * i, 2)).toBe("pending → agreed");
    expect(judge(NEGOTIATED_ADDRESS, 104, 101, 2)).toBe("new, 3 pending → agreed");
    expect(judge(NEGOTIATED_ADDRESS, 105, 120, 2)).toBe("current → agreed");
  });

  test("regains its place immediately if it had only paused", () => {
    const judge = sourceAt();
    judge(NEGOTIATED_ADDRESS, 1, 0, 1);
    for (let i = 0; i < 50; i++) judge(NEGOTIATED_ADDRESS, 100 + i, 20 + 20 * i, 2);
    expect(judge(NEGOTIATED_ADDRESS, 2, 1_011, 1)).toBe("new → agreed");
    for (let i = 0; i < 50; i++) {
      expect(judge(NEGOTIATED_ADDRESS, 150 + i, 1_020 + 20 * i, 2)).toBe("pending → agreed");
      expect(judge(NEGOTIATED_ADDRESS, 3 + i, 1_031 + 20 * i, 1)).toBe("current → agreed");
    }
  });

  test("drops a stranger's pending packet for one from the agreed address", () => {
    const judge = sourceAt();
    expect(judge(STRANGER, 1, 0, 9)).toBe("pending → agreed");
    expect(judge(NEGOTIATED_ADDRESS, 1, 10, 1)).toBe("new → agreed");
    expect(judge.source.injected).toBe(1);
  });

  test("is accepted at any address if authentic", () => {
    const judge = sourceAt({ authentic: true });
    judge(NEGOTIATED_ADDRESS, 1, 0);
    expect(judge(BEHIND_NAT, 9_000, 20)).toBe("current → agreed");
    expect(judge(BEHIND_NAT, 2, 200)).toBe(`current → ${textOf(BEHIND_NAT)}`);
    const movedTo = { address: STRANGER.address, port: 5_000 };
    for (let i = 0; i < 10; i++)
      expect(judge(movedTo, 70 + i, 219 + 20 * i, 2)).toBe(`pending → ${textOf(BEHIND_NAT)}`);
    expect(judge(movedTo, 80, 419, 2)).toBe(`new, 8 pending → ${textOf(movedTo)}`);
    expect(judge.source.injected).toBe(0);
  });

  test("is accepted only at the agreed address with strictRtp", () => {
    for (const authentic of [false, true]) {
      const judge = sourceAt({ strict: true, authentic });
      for (let i = 0; i < 9; i++) expect(judge(BEHIND_NAT, i, i * 500)).toBe("foreign → agreed");
      expect(judge(NEGOTIATED_ADDRESS, 10, 5_000)).toBe("new → agreed");
      expect(judge(BEHIND_NAT, 11, 5_020)).toBe("foreign → agreed");
      expect(judge.source.injected).toBe(10);
    }
  });

  test("abandoned by a new negotiation does not return with its last packets", () => {
    const judge = sourceAt();
    judge(NEGOTIATED_ADDRESS, 1, 0);
    judge.source.setRemote(BEHIND_NAT, 10);
    for (let i = 2; i < 20; i++) expect(judge(NEGOTIATED_ADDRESS, i, i * 20)).toBe(`foreign → ${textOf(BEHIND_NAT)}`);
    expect(judge(NEW_MAPPING, 7, 420, 2)).toBe(`pending → ${textOf(BEHIND_NAT)}`);
    expect(judge(NEW_MAPPING, 8, 440, 2)).toBe(`new, one pending → ${textOf(NEW_MAPPING)}`);
    expect(judge.source.injected).toBe(0);
  });
});

describe("a host other than the one in the SDP", () => {
  const SERVER = "192.0.2.200";
  const PRIVATE = { address: "10.0.0.5", port: 5_000 };
  const NO_ADDRESS = { address: "0.0.0.0", port: 0 };
  /** Verdicts on consecutive packets from that host, before and after 3 s of silence. */
  const verdicts = (judge: ReturnType<typeof sourceAt>, from: Place): string[] => [
    ...[0, 1].map((i) => judge(from, 7 + i, 20 * i, 9)),
    ...[0, 1, 2, 3, 4, 5].map((i) => judge(from, 9 + i, 3_000 + 20 * i, 9)),
  ];

  test("gets no audio and is not heard if the SDP names the server's host", () => {
    const judge = sourceAt({ server: NEGOTIATED_ADDRESS.address });
    expect(new Set(verdicts(judge, STRANGER))).toEqual(new Set(["foreign → agreed"]));
    expect(judge.source).toMatchObject({ injected: 8, hasHeardIgnoredHost: true });
  });

  test("gets no audio there even with the SSRC and the next number of the source", () => {
    const judge = sourceAt({ server: NEGOTIATED_ADDRESS.address });
    judge(NEGOTIATED_ADDRESS, 1, 0, 1);
    expect(judge(STRANGER, 2, 10, 1)).toBe("foreign → agreed");
    expect(judge(NEGOTIATED_ADDRESS, 2, 20, 1)).toBe("current → agreed");
    expect(judge(STRANGER, 3, 5_000, 1)).toBe("foreign → agreed");
  });

  test("is heard, and gets no audio, if the SDP names a public host that is not the server's", () => {
    const judge = sourceAt({ server: SERVER });
    expect(new Set(verdicts(judge, STRANGER))).toEqual(
      new Set(["pending → agreed", "new, one pending → agreed", "current → agreed"]),
    );
    expect(judge(NEGOTIATED_ADDRESS, 1, 3_200, 1)).toBe("new → agreed");
  });

  test("is followed if the SDP names a private host, or none", () => {
    const sharedAddresses = ["192.0.0.4", "198.18.0.1"].map((address) => ({ ...PRIVATE, address }));
    for (const negotiated of [PRIVATE, NO_ADDRESS, ...sharedAddresses])
      expect(verdicts(sourceAt({ server: SERVER, negotiated }), BEHIND_NAT).at(-1)).toBe(
        `current → ${textOf(BEHIND_NAT)}`,
      );
    const ownNetwork = sourceAt({ server: PRIVATE.address, negotiated: PRIVATE });
    expect(verdicts(ownNetwork, BEHIND_NAT).at(-1)).toBe("foreign → agreed");
  });

  test("is followed if it is the server's, if the operator names its network, or if authentic", () => {
    const server = { address: SERVER, port: 9_000 };
    expect(verdicts(sourceAt({ server: SERVER }), server).at(-1)).toBe(`current → ${textOf(server)}`);
    for (const options of [{ hasNamedNetworks: true }, { authentic: true }]) {
      const judge = sourceAt({ server: NEGOTIATED_ADDRESS.address, ...options });
      expect(verdicts(judge, BEHIND_NAT).at(-1)).toBe(`current → ${textOf(BEHIND_NAT)}`);
    }
  });

  test("is abandoned if another response shows that the SDP names the server's host", () => {
    const hosts = new PeerHosts();
    hosts.apply({ remote: PRIVATE, remoteRtcp: PRIVATE, signallingHosts: [SERVER] });
    const judge = sourceAt({ hosts, negotiated: PRIVATE });
    expect(verdicts(judge, BEHIND_NAT).at(-1)).toBe(`current → ${textOf(BEHIND_NAT)}`);
    judge.source.setRemote(PRIVATE, 4_000);
    expect(judge.source.isAt(BEHIND_NAT.address, BEHIND_NAT.port)).toBe(true);
    hosts.apply({ remote: PRIVATE, remoteRtcp: PRIVATE, signallingHosts: [PRIVATE.address] });
    judge.source.setRemote(PRIVATE, 4_000);
    expect(judge(BEHIND_NAT, 15, 4_020, 9)).toBe("foreign → agreed");
  });

  test("is also recognised in IPv6, in any notation", () => {
    const negotiated = { address: "2001:DB8:0:0::1", port: 5_000 };
    const judge = sourceAt({ server: "2001:db8::1", negotiated });
    expect(new Set(verdicts(judge, { address: "2001:db8::2", port: 5_000 }))).toEqual(
      new Set(["foreign → 2001:db8::1:5000"]),
    );
    const mappedSource = sourceAt({
      server: "::ffff:192.0.2.9",
      negotiated: { address: "::FFFF:192.0.2.9", port: 5_000 },
    });
    expect(mappedSource(NEGOTIATED_ADDRESS, 1, 0)).toBe("new → 192.0.2.9:5000");
    expect(mappedSource(STRANGER, 1, 9_000)).toBe("foreign → 192.0.2.9:5000");
  });
});

/** Events on the network: time passes, the phone speaks or moves, a stranger sends. */
type NetworkEvent =
  | { readonly passes: number }
  | { readonly speaks: number }
  | { readonly moves: number }
  | { readonly stranger: number; readonly packets: number; readonly host: number };

const networkEvent: fc.Arbitrary<NetworkEvent> = fc.oneof(
  fc.record({ passes: fc.oneof(fc.nat(100), fc.nat(5_000)) }),
  fc.record({ speaks: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ moves: fc.nat(3) }),
  fc.record({ stranger: fc.nat(2), packets: fc.integer({ min: 1, max: 8 }), host: fc.nat(4) }),
);

fuzz(
  "our audio follows each of the phone's packets, and goes to no stranger while it speaks",
  fc.property(fc.array(networkEvent, { maxLength: 80 }), (events) => {
    const judge = sourceAt();
    const places = [NEGOTIATED_ADDRESS, OTHER_PORT, BEHIND_NAT, NEW_MAPPING];
    let [now, place, reached, sequence, strangerPackets, injectedPackets] = [
      0,
      NEGOTIATED_ADDRESS,
      NEGOTIATED_ADDRESS,
      65_500,
      0,
      0,
    ]; // the last two count packets of strangers
    let [reachedAt, spokeAt] = [0, 0];
    /** The phone's packet; only another host has to wait until the old place has been silent for 200 ms. */
    const speak = (): void => {
      sequence = (sequence + 1) & 0xffff;
      const isAnother = place !== NEGOTIATED_ADDRESS && place.address !== reached.address && judge.source.ssrc === 1;
      judge(place, sequence, now);
      if (isAnother && now - reachedAt < 200) injectedPackets++;
      else [reached, reachedAt, spokeAt, strangerPackets] = [place, now, now, 0];
      expect(judge.source).toMatchObject({ ...reached, ssrc: 1 });
    };
    speak();
    const sequences = [0, 30_000, 60_000];
    for (const event of events) {
      if ("passes" in event) now += event.passes;
      else if ("moves" in event) place = places[event.moves]!;
      else if ("speaks" in event) {
        for (let i = 0; i < event.speaks; i++, now += 20) speak();
      } else
        for (let i = 0; i < event.packets; i++, now += 20) {
          const host = event.host === 0 ? NEGOTIATED_ADDRESS.address : `203.0.113.${event.host}`;
          judge(
            { address: host, port: 9_000 + event.stranger },
            sequences[event.stranger]!++,
            now,
            90 + event.stranger,
          );
          [strangerPackets, injectedPackets] = [strangerPackets + 1, injectedPackets + 1];
          const { ssrc } = judge.source;
          if (ssrc === 1) continue;
          expect(now - spokeAt).toBeGreaterThanOrEqual(2_000);
          expect(strangerPackets).toBeGreaterThanOrEqual(3);
        }
      expect(judge.source.injected).toBeLessThanOrEqual(injectedPackets);
    }
    now += 20;
    speak();
  }),
);

test("addresses are compared in the form that sockets report", () => {
  expect(canonicalAddress("2001:DB8:0:0::1")).toBe("2001:db8::1");
  expect(canonicalAddress("fe80::1%eth0")).toBe("fe80::1%eth0");
  expect(canonicalAddress("::FFFF:192.0.2.1")).toBe("192.0.2.1");
  expect(canonicalAddress("::ffff:c000:2ff")).toBe("192.0.2.255");
  expect(canonicalAddress("192.0.2.1")).toBe("192.0.2.1");
  expect(canonicalAddress("Not:An:Address")).toBe("not:an:address");
});
