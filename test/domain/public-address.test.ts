import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isPublicAddress } from "../../src/domain/public-address.ts";
import { fuzz } from "../support/fuzz.ts";

const octet = fc.integer({ min: 0, max: 255 });
const group = fc.integer({ min: 0, max: 0xffff });
const lastOctets = fc.tuple(octet, octet, octet);

/** First octets of networks that are not public; the other octets are arbitrary. */
const CLOSED_NETWORKS: readonly (readonly [name: string, address: fc.Arbitrary<string>])[] = [
  ["this network", lastOctets.map((tail) => [0, ...tail].join("."))],
  ["private 10/8", lastOctets.map((tail) => [10, ...tail].join("."))],
  ["private 172.16/12", fc.tuple(fc.integer({ min: 16, max: 31 }), octet, octet).map((t) => [172, ...t].join("."))],
  ["private 192.168/16", fc.tuple(octet, octet).map((tail) => [192, 168, ...tail].join("."))],
  ["loopback", lastOctets.map((tail) => [127, ...tail].join("."))],
  ["link-local and metadata", fc.tuple(octet, octet).map((tail) => [169, 254, ...tail].join("."))],
  ["CGNAT", fc.tuple(fc.integer({ min: 64, max: 127 }), octet, octet).map((t) => [100, ...t].join("."))],
  [
    "multicast and reserved",
    fc.tuple(fc.integer({ min: 224, max: 255 }), lastOctets).map(([a, t]) => [a, ...t].join(".")),
  ],
];

const NOT_GLOBAL = fc.tuple(
  group.filter((first) => first >> 13 !== 1 && first !== 0 && first !== 0x64),
  ...Array.from({ length: 7 }, () => group),
);

const hex = (value: number) => value.toString(16);
const pairs = (address: string) => {
  const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
  return `${hex(a * 256 + b)}:${hex(c * 256 + d)}`;
};

describe("addresses that are not public", () => {
  for (const [name, address] of CLOSED_NETWORKS)
    fuzz(
      `${name} is not public, even mapped into IPv6 or behind NAT64`,
      fc.property(address, (text) => {
        expect(isPublicAddress(text)).toBe(false);
        expect(isPublicAddress(`::ffff:${text}`)).toBe(false);
        expect(isPublicAddress(`0:0:0:0:0:FFFF:${pairs(text)}`)).toBe(false);
        expect(isPublicAddress(`::${pairs(text)}`)).toBe(false);
        expect(isPublicAddress(`64:ff9b::${pairs(text)}`)).toBe(false);
        expect(isPublicAddress(`2002:${pairs(text)}::1`)).toBe(false);
      }),
    );

  fuzz(
    "IPv6 outside 2000::/3 is not public unless it contains a public IPv4 address",
    fc.property(NOT_GLOBAL, (groups) => {
      expect(isPublicAddress(groups.map(hex).join(":"))).toBe(false);
    }),
  );

  test.each([
    ...["::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "100::1"],
    ...["2001::1", "2001:db8::1", "2002::1", "3fff::1", "168.63.129.16", "100.100.100.200"],
    ...["192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "192.88.99.1", "192.0.0.1"],
    ...["", "localhost", "127.1", "0x7f.0.0.1", "2130706433", "8.8.8.08", "8.8.8", "8.8.8.8.8", "256.1.1.1", "::g"],
  ])("%s is not a public address", (address) => expect(isPublicAddress(address)).toBe(false));
});

describe("addresses that are public", () => {
  test.each([
    ...["8.8.8.8", "1.1.1.1", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1", "169.253.1.1", "192.167.1.1"],
    ...["223.255.255.255", "2606:4700:4700::1111", "2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::808:808"],
  ])("%s is a public address", (address) => expect(isPublicAddress(address)).toBe(true));
});
