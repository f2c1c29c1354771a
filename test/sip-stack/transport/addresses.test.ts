import { isIP } from "node:net";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addressCheck, isPrivate, isUnassignable } from "../../../adapters/sip-stack/transport/addresses.ts";
import type { Resolve } from "../../../adapters/sip-stack/transport/dns.ts";
import { trustedResolve } from "../../../adapters/sip-stack/transport/trusted-resolve.ts";
import { inRange, ipBytes, parseRange } from "../../../src/base/ip-range.ts";
import { fuzz } from "../../support/fuzz.ts";
import { never } from "./sockets.ts";

const isIn = (network: string, address: string) => inRange(parseRange(network)!, ipBytes(address)!);

/** An address as a number, and its bits. */
const numberOf = (bytes: Uint8Array) => bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);

describe("a network in CIDR notation", () => {
  const v4Cases = fc.tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 }), fc.ipV4());
  const v6Cases = fc.tuple(fc.ipV6(), fc.integer({ min: 0, max: 128 }), fc.ipV6());
  const cases = fc.oneof(v4Cases, v6Cases);

  fuzz(
    "contains the addresses that share its leading bits",
    fc.property(cases, ([network, bits, address]) => {
      const [networkBytes, addressBytes] = [parseRange(network)!.bytes, parseRange(address)!.bytes];
      const hostBits = BigInt(8 * networkBytes.length - bits);
      const isSame = numberOf(networkBytes) >> hostBits === numberOf(addressBytes) >> hostBits;
      expect(inRange(parseRange(`${network}/${bits}`)!, addressBytes)).toBe(isSame);
      expect(inRange(parseRange(`${network}/${bits}`)!, networkBytes)).toBe(true);
    }),
  );

  fuzz(
    "contains an address that differs only after its prefix",
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.nat(127), (address, position) => {
      const { bytes } = parseRange(address)!;
      const bit = position % (8 * bytes.length);
      const flippedBytes = bytes.slice();
      flippedBytes[bit >> 3]! ^= 0x80 >> (bit & 7);
      expect(inRange(parseRange(`${address}/${bit}`)!, flippedBytes)).toBe(true);
      expect(inRange(parseRange(`${address}/${bit + 1}`)!, flippedBytes)).toBe(false);
    }),
  );

  const letters = fc.string({ unit: fc.constantFrom(..."0129af:.:g"), maxLength: 24 });
  const forms = fc.oneof(
    fc.ipV4Extended(),
    fc.ipV4(),
    fc.ipV6(),
    letters,
    fc.tuple(letters, fc.ipV4()).map((parts) => parts.join("")),
  );

  fuzz(
    "is recognised as an address exactly if node:net does",
    fc.property(forms, (text) => {
      expect((parseRange(text)?.bytes.length ?? 0) / 4).toBe([0, 0, 0, 0, 1, 0, 4][isIP(text)]);
    }),
  );

  fuzz(
    "of any text never makes the parser throw",
    fc.property(fc.string({ maxLength: 60 }), (text) => {
      const range = parseRange(text);
      if (range) expect(range.bits).toBeLessThanOrEqual(8 * range.bytes.length);
    }),
  );

  test.each([
    "10.0.0.0/33",
    "10.0.0/8",
    "010.0.0.1",
    "::/129",
    "10.0.0.0/",
    "10.0.0.0/8/8",
    "fe80::1%eth0",
    "",
    "sip.example",
  ])("is not read from %s", (text) => {
    expect(parseRange(text)).toBeUndefined();
  });

  test.each([
    ["203.0.113.0/24", "203.0.113.255", true],
    ["203.0.113.0/24", "203.0.114.0", false],
    ["203.0.113.7", "203.0.113.7", true],
    ["10.0.0.0/8", "::ffff:10.1.2.3", true],
    ["10.0.0.0/8", "::ffff:a01:203", true],
    ["2001:db8::/32", "2001:db8:1::1", true],
    ["::/0", "10.0.0.1", false],
    ["fe80::/10", "fe80::1%eth0", true],
  ])("contains an address or not: %s and %s: %s", (network, address, isContained) => {
    expect(isIn(network, address)).toBe(isContained);
  });
});

test("private and unassignable addresses are recognised, even mapped", () => {
  const privateIpv4 = ["0.0.0.0", "10.9.9.9", "100.127.0.1", "127.1.1.1", "169.254.1.1", "172.31.0.1", "192.168.1.1"];
  for (const address of [
    ...privateIpv4,
    "192.0.0.4",
    "198.19.255.1",
    "::",
    "::1",
    "fd00::1",
    "fe80::1%2",
    "::ffff:192.168.1.1",
  ])
    expect(isPrivate(address), address).toBe(true);
  for (const address of [
    "8.8.8.8",
    "100.128.0.1",
    "172.32.0.1",
    "192.0.1.1",
    "198.20.0.1",
    "2001:db8::1",
    "fc.example",
    "localhost",
    "10.example",
  ])
    expect(isPrivate(address), address).toBe(false);
  for (const address of ["224.0.0.1", "239.255.255.255", "255.255.255.255", "ff02::1"])
    expect(isUnassignable(address), address).toBe(true);
});

test.each([
  [{ isPublic: false }, "10.0.0.1", true],
  [{ isPublic: true }, "10.0.0.1", false],
  [{ isPublic: true }, "8.8.8.8", true],
  [{ isPublic: true, ranges: ["10.0.0.0/8"] }, "10.0.0.1", true],
  [{ isPublic: true, ranges: ["10.0.0.0/8"] }, "8.8.8.8", false],
  [{ isPublic: false, ranges: ["10.0.0.0/8"] }, "192.168.0.1", false],
  [{ isPublic: false }, "224.0.0.1", false],
  [{ isPublic: false, ranges: ["::/0"] }, "ff02::1", false],
  [{ isPublic: false }, "media.example", false],
] as const)("the rule %j and %s: %s", (rule, address, isAllowed) => {
  const check = addressCheck(rule);
  expect([check(address), check(address)]).toEqual([isAllowed, isAllowed]);
});

describe("the target of a peer's URI", () => {
  const ZONE: Record<string, readonly string[]> = {
    "trunk.example": ["203.0.113.1"],
    "local.example": ["10.0.0.1"],
    "peer.example": ["10.0.0.9", "198.51.100.4"],
    "rebound.example": ["127.0.0.1"],
  };
  const resolve: Resolve = async (uri) =>
    ZONE[uri.slice(4)]!.map((address) => ({ kind: "udp", host: uri.slice(4), address, port: 5060 }));

  async function resolveTarget(uri: string, server: string, ranges?: readonly string[]) {
    const refusedAddresses: string[] = [];
    const resolveTrusted = trustedResolve({
      resolveOwn: resolve,
      resolve,
      allows: () => true,
      ownUri: server,
      ranges,
      onRefused: (_, address) => refusedAddresses.push(address),
    });
    const serverHops = await resolveTrusted(server, never);
    const hops = await resolveTrusted(uri, never);
    return {
      first: serverHops.map(({ address }) => address),
      hops: hops.map(({ address }) => address),
      refused: refusedAddresses,
    };
  }

  test("is not a private address if the trunk's server is public", async () => {
    const { hops, refused } = await resolveTarget("sip:peer.example", "sip:trunk.example");
    expect({ hops, refused }).toEqual({ hops: ["198.51.100.4"], refused: [] });
  });

  test("is the trunk's server without allowed addresses", async () => {
    const { hops, refused } = await resolveTarget("sip:rebound.example", "sip:trunk.example");
    expect({ hops, refused }).toEqual({ hops: ["203.0.113.1"], refused: ["127.0.0.1"] });
  });

  test("is any address for a private server, or one in the ranges if given", async () => {
    expect((await resolveTarget("sip:peer.example", "sip:local.example")).hops).toEqual(["10.0.0.9", "198.51.100.4"]);
    const ranges = ["198.51.100.0/24"];
    expect((await resolveTarget("sip:peer.example", "sip:local.example", ranges)).hops).toEqual(["198.51.100.4"]);
    expect((await resolveTarget("sip:local.example", "sip:local.example", ranges)).hops).toEqual(["10.0.0.1"]);
  });
});
