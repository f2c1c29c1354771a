import { Buffer } from "node:buffer";
import { createCipheriv, createHmac } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SrtpKeys, SrtpSuite } from "../../../../adapters/sip-stack/media/engine.ts";
import {
  MAX_PACKET_BYTES,
  packetCipher,
  scriptCipher,
} from "../../../../adapters/sip-stack/media/srtp/packet-cipher.ts";
import { newSrtpKeys } from "../../../../adapters/sip-stack/media/srtp/sdes.ts";
import { deriveSessionKeys, SUITES } from "../../../../adapters/sip-stack/media/srtp/session-keys.ts";
import { createSrtp } from "../../../../adapters/sip-stack/media/srtp/srtp.ts";
import { fuzz } from "../../../support/fuzz.ts";
import { bytes, CIPHERS, hex, rtp } from "./support.ts";

const SUITE_NAMES = Object.keys(SUITES) as SrtpSuite[];

/** Keys that are the same in every run. */
function keysOf(suite: SrtpSuite, mki?: Uint8Array) {
  let next = 1;
  const keys = newSrtpKeys(suite, (array) => {
    for (let i = 0; i < array.length; i++) array[i] = next++ * 7;
  });
  return mki === undefined ? keys : { ...keys, mki };
}
const KEYS = keysOf("AES_CM_128_HMAC_SHA1_80");

/** RFC 3711 step by step, with the runtime's own objects; the packet index exceeds 16 bits. */
function referencePacket(keys: SrtpKeys, packet: Uint8Array, number: number): string {
  const { cipher, auth, salt } = deriveSessionKeys(keys, "rtp");
  const counter = new Uint8Array(16);
  counter.set(salt);
  const position = new DataView(counter.buffer);
  position.setUint32(4, position.getUint32(4) ^ new DataView(packet.buffer).getUint32(8));
  position.setUint32(8, position.getUint32(8) ^ (number >>> 16));
  position.setUint16(12, position.getUint16(12) ^ (number & 0xffff));
  const encryptedPayload = createCipheriv(`aes-${cipher.length * 8}-ctr`, cipher, counter).update(packet.subarray(12));
  const authenticatedBytes = Buffer.concat([packet.subarray(0, 12), encryptedPayload]);
  const rollover = Buffer.from([0, 0, 0, number >>> 16]);
  const tag = createHmac("sha1", auth).update(authenticatedBytes).update(rollover).digest();
  return Buffer.concat([authenticatedBytes, tag.subarray(0, SUITES[keys.suite].rtpTag)]).toString("hex");
}

function rtcp(ssrc: number, payload = 20): Uint8Array {
  const packet = rtp(0, { ssrc: 0, payload: payload - 4 });
  new DataView(packet.buffer).setUint32(0, 0x80c80006);
  new DataView(packet.buffer).setUint32(4, ssrc);
  return packet;
}

describe.each(SUITE_NAMES)("%s", (suite) => {
  test.each(CIPHERS)("the %s back end matches the reference computation, even across a rollover", (_, cipher) => {
    const sender = createSrtp(keysOf(suite), cipher);
    const receiver = createSrtp(keysOf(suite), cipher);
    for (let n = 65_000; n < 66_200; n++) {
      const payload = n % 7 === 0 ? (n * 31) % 900 : 160;
      const [packet, plain] = [rtp(n, { payload }), rtp(n, { payload }).subarray(0, 12 + payload)];
      const length = sender.protect(packet, 12 + payload);
      expect(hex(packet.subarray(0, length))).toBe(referencePacket(keysOf(suite), plain, n));
      expect(length).toBe(12 + payload + SUITES[suite].rtpTag);
      expect(receiver.unprotect(packet, length)).toBe(12 + payload);
      expect(hex(packet.subarray(0, 12 + payload))).toBe(hex(plain));
    }
  });

  test("protected packets can only be read with the same key", () => {
    const packet = rtp(7);
    const length = createSrtp(keysOf(suite)).protect(packet, 172);
    expect(hex(packet.subarray(12, 172))).not.toBe(hex(rtp(7).subarray(12, 172)));
    const otherKeys = newSrtpKeys(suite, (array) => crypto.getRandomValues(array));
    expect(createSrtp(otherKeys).unprotect(packet, length)).toBe(-1);
    expect(createSrtp(keysOf(suite)).unprotect(packet, length)).toBe(172);
  });

  test("RTCP makes the round trip, with a tag of ten bytes", () => {
    const sender = createSrtp(keysOf(suite));
    const receiver = createSrtp(keysOf(suite));
    for (let n = 0; n < 20; n++) {
      const packet = rtcp(99);
      const length = sender.protectRtcp(packet, 28);
      expect(length).toBe(28 + 4 + 10);
      expect(receiver.unprotectRtcp(packet, length)).toBe(28);
      expect(hex(packet.subarray(0, 28))).toBe(hex(rtcp(99).subarray(0, 28)));
    }
  });
});

/** Protected packets with these numbers (which continue beyond 16 bits), in order. */
function protectedPackets(from: number, count: number, ssrc?: number): { bytes: Uint8Array; length: number }[] {
  const sender = createSrtp(KEYS);
  return Array.from({ length: count }, (_, i) => {
    const packet = rtp(from + i, ssrc === undefined ? {} : { ssrc });
    return { length: sender.protect(packet, 172), bytes: packet };
  });
}

test("the back end of a thread does not change, and is not the script here", () => {
  expect(packetCipher()).toBe(packetCipher());
  expect(packetCipher()).not.toBe(scriptCipher);
});

fuzz(
  "random packets of any key match the reference computation",
  fc.property(
    fc.constantFrom(...SUITE_NAMES),
    fc.constantFrom(...CIPHERS),
    fc.uint8Array({ minLength: 46, maxLength: 46 }),
    fc.array(fc.tuple(fc.nat(1_500), fc.integer({ min: 1, max: 0x7000 })), { minLength: 1, maxLength: 20 }),
    (suite, [, cipher], random, sizes) => {
      const keys = newSrtpKeys(suite, (array) => array.set(random.subarray(0, array.length)));
      const [sender, receiver] = [createSrtp(keys, cipher), createSrtp(keys, cipher)];
      let number = 0;
      for (const [payload, step] of sizes) {
        number += step;
        const [packet, plain] = [rtp(number, { payload }), rtp(number, { payload }).subarray(0, 12 + payload)];
        const length = sender.protect(packet, 12 + payload);
        if (hex(packet.subarray(0, length)) !== referencePacket(keys, plain, number)) throw new Error("it differs");
        if (receiver.unprotect(packet, length) !== 12 + payload) throw new Error("it was refused");
        if (hex(packet.subarray(0, 12 + payload)) !== hex(plain)) throw new Error("it was not restored");
      }
    },
  ),
);

test.each(CIPHERS)("a packet longer than any datagram is refused by the %s back end", (_, cipher) => {
  const srtp = createSrtp(KEYS, cipher);
  const longest = rtp(1, { payload: MAX_PACKET_BYTES - 12 });
  expect(srtp.protect(longest, MAX_PACKET_BYTES)).toBe(MAX_PACKET_BYTES + 10);
  expect(createSrtp(KEYS, cipher).unprotect(longest, MAX_PACKET_BYTES + 10)).toBe(MAX_PACKET_BYTES);
  const tooLong = rtp(2, { payload: MAX_PACKET_BYTES });
  expect(srtp.protect(tooLong, MAX_PACKET_BYTES + 1)).toBe(-1);
  expect(srtp.unprotect(tooLong, tooLong.length)).toBe(-1);
  expect(srtp.protectRtcp(tooLong, MAX_PACKET_BYTES + 1)).toBe(-1);
  expect(srtp.unprotectRtcp(tooLong, tooLong.length)).toBe(-1);
});

test("a duplicate packet is accepted once", () => {
  const receiver = createSrtp(KEYS);
  const packets = protectedPackets(10, 200);
  for (const { bytes, length } of packets) {
    const copy = bytes.slice();
    expect(receiver.unprotect(bytes, length)).toBe(172);
    expect(receiver.unprotect(copy, length)).toBe(-1);
  }
});

test("a late packet is accepted once within the window of 128", () => {
  const packets = protectedPackets(65_400, 300);
  const receiver = createSrtp(KEYS);
  const receive = (n: number) => receiver.unprotect(packets[n]!.bytes.slice(), packets[n]!.length);
  expect(receive(0)).toBe(172);
  expect(receive(299)).toBe(172);
  for (let n = 172; n < 299; n++) expect(receive(n)).toBe(172);
  for (let n = 172; n < 299; n++) expect(receive(n)).toBe(-1);
  for (let n = 0; n < 172; n++) expect(receive(n)).toBe(-1);
});

fuzz(
  "packets shuffled within the window are each accepted once, even across a rollover",
  fc.property(fc.nat(0xffff), fc.infiniteStream(fc.nat(63)), (start, chance) => {
    // The first packet arrives first: a source whose first packets are reordered across a rollover is ambiguous.
    const packets = protectedPackets(start, 96);
    const [first, ...otherPackets] = packets.map((packet, n) => ({
      ...packet,
      at: n + (n === 0 ? -99 : chance.next().value),
    }));
    const receiver = createSrtp(KEYS);
    for (const { bytes, length } of [first!, ...otherPackets.sort((a, b) => a.at - b.at)]) {
      const copy = bytes.slice();
      if (receiver.unprotect(bytes, length) !== 172) throw new Error("a packet was refused");
      if (receiver.unprotect(copy, length) !== -1) throw new Error("a packet was accepted twice");
    }
  }),
);

test("the rollover count survives a loss of 30,000 packets", () => {
  const sender = createSrtp(KEYS);
  const receiver = createSrtp(KEYS);
  for (let n = 0; n < 400_000; n += 30_000) {
    const packet = rtp(n);
    const length = sender.protect(packet, 172);
    expect(receiver.unprotect(packet, length)).toBe(172);
  }
});

test("a source that wrapped around before its first packet is decrypted", () => {
  const packets = protectedPackets(65_530, 20);
  const receiver = createSrtp(KEYS);
  for (const { bytes, length } of packets.slice(8)) expect(receiver.unprotect(bytes, length)).toBe(172);
});

test("alternating sources do not disturb each other", () => {
  const receiver = createSrtp(KEYS);
  const sender = createSrtp(KEYS);
  for (let n = 0; n < 300; n++) {
    const packet = rtp(65_400 + n, { ssrc: 0x80000000 + (n % 3) });
    const length = sender.protect(packet, 172);
    expect(receiver.unprotect(packet, length)).toBe(172);
    expect(hex(packet.subarray(12, 172))).toBe(hex(rtp(65_400 + n).subarray(12, 172)));
  }
});

test("a hundred sources in turn are all decrypted", () => {
  const receiver = createSrtp(KEYS);
  for (let ssrc = 1; ssrc <= 100; ssrc++)
    for (const { bytes, length } of protectedPackets(1, 3, ssrc)) expect(receiver.unprotect(bytes, length)).toBe(172);
});

test("a packet with one wrong bit is refused without side effects", () => {
  const [packet] = protectedPackets(5, 1);
  const { bytes, length } = packet!;
  const receiver = createSrtp(KEYS);
  for (let bit = 0; bit < length * 8; bit++) {
    const corruptedBytes = bytes.slice();
    corruptedBytes[bit >>> 3]! ^= 1 << (bit & 7);
    const original = hex(corruptedBytes);
    expect(receiver.unprotect(corruptedBytes, length)).toBe(-1);
    expect(hex(corruptedBytes)).toBe(original);
  }
  expect(receiver.unprotect(bytes, length)).toBe(172);
});

test("an RTCP packet with one wrong bit is refused", () => {
  const packet = rtcp(3);
  const length = createSrtp(KEYS).protectRtcp(packet, 28);
  const receiver = createSrtp(KEYS);
  for (let bit = 0; bit < length * 8; bit++) {
    const corruptedPacket = packet.slice();
    corruptedPacket[bit >>> 3]! ^= 1 << (bit & 7);
    expect(receiver.unprotectRtcp(corruptedPacket, length)).toBe(-1);
  }
  expect(receiver.unprotectRtcp(packet.slice(), length)).toBe(28);
  expect(receiver.unprotectRtcp(packet, length)).toBe(-1);
});

test("signed but unencrypted RTCP is accepted", () => {
  const packet = rtcp(3);
  const view = new DataView(packet.buffer);
  view.setUint32(28, 5);
  packet.set(scriptCipher.hmac(deriveSessionKeys(KEYS, "rtcp").auth).digest(packet, 32).subarray(0, 10), 32);
  expect(createSrtp(KEYS).unprotectRtcp(packet, 42)).toBe(28);
  expect(hex(packet.subarray(0, 28))).toBe(hex(rtcp(3).subarray(0, 28)));
});

test("CSRCs and the header extension stay readable, the payload does not", () => {
  const head = "93001234000000010000000200000003000000040000000500010002aaaaaaaabbbbbbbb";
  const packet = bytes(`${head}cccccccc`, 80);
  const length = createSrtp(KEYS).protect(packet, 40);
  expect(length).toBe(50);
  expect(hex(packet.subarray(0, 36))).toBe(head);
  expect(hex(packet.subarray(36, 40))).not.toBe("cccccccc");
  expect(createSrtp(KEYS).unprotect(packet, length)).toBe(40);
  expect(hex(packet.subarray(0, 40))).toBe(`${head}cccccccc`);
});

test("a master key identifier precedes the tag and is removed", () => {
  const keys = keysOf("AES_CM_128_HMAC_SHA1_32", bytes("0102"));
  const packet = rtp(1);
  const length = createSrtp(keys).protect(packet, 172);
  expect(length).toBe(172 + 2 + 4);
  expect(hex(packet.subarray(172, 174))).toBe("0102");
  expect(createSrtp(keys).unprotect(packet, length)).toBe(172);
  const control = rtcp(1);
  const size = createSrtp(keys).protectRtcp(control, 28);
  expect(size).toBe(28 + 4 + 2 + 10);
  expect(createSrtp(keys).unprotectRtcp(control, size)).toBe(28);
});

test("a packet is refused if sent twice, without room for its tag, or malformed", () => {
  const sender = createSrtp(KEYS);
  expect(sender.protect(rtp(1), 172)).toBe(182);
  expect(sender.protect(rtp(1), 172)).toBe(-1);
  expect(sender.protect(rtp(2, { room: 9 }), 172)).toBe(-1);
  expect(sender.protect(rtp(2, { room: 10 }), 172)).toBe(182);
  expect(sender.protect(new Uint8Array(200), 172)).toBe(-1);
  expect(sender.protectRtcp(rtcp(1).subarray(0, 41), 28)).toBe(-1);
  expect(sender.protectRtcp(new Uint8Array(200), 28)).toBe(-1);
});

test("a key or salt of the wrong length is a RangeError", () => {
  expect(() => createSrtp({ ...KEYS, key: new Uint8Array(32) })).toThrow(/has 16 bytes, not 32/);
  expect(() => createSrtp({ ...KEYS, salt: new Uint8Array(12) })).toThrow(/14 bytes, not 12/);
});

const randomInput = fc.tuple(fc.uint8Array({ maxLength: 300 }), fc.integer({ min: -20, max: 320 }), fc.boolean());

fuzz(
  "any bytes are refused without an exception",
  fc.property(randomInput, fc.constantFrom(...SUITE_NAMES), ([array, length, hasVersion], suite) => {
    if (hasVersion && array.length > 0) array[0] = 0x80 | (array[0]! & 0x3f);
    const srtp = createSrtp(keysOf(suite));
    if (srtp.unprotect(array.slice(), length) !== -1) throw new Error("accepted as RTP");
    if (srtp.unprotectRtcp(array.slice(), length) !== -1) throw new Error("accepted as RTCP");
    srtp.protect(array.slice(), length);
    srtp.protectRtcp(array.slice(), length);
  }),
);

fuzz(
  "hostile packets between genuine ones do not disturb them",
  fc.property(fc.array(fc.tuple(fc.nat(0xffff), fc.nat(400), fc.nat(255)), { maxLength: 40 }), (attacks) => {
    const packets = protectedPackets(65_500, 40);
    const receiver = createSrtp(KEYS);
    for (const [n, { bytes, length }] of packets.entries()) {
      const [sequence = 0, size = 0, mask = 1] = attacks[n] ?? [];
      const forgedPacket = bytes.slice();
      new DataView(forgedPacket.buffer).setUint16(2, sequence);
      forgedPacket[12]! ^= mask | 1;
      if (receiver.unprotect(forgedPacket, Math.min(size, length)) !== -1)
        throw new Error("a forged packet was accepted");
      if (receiver.unprotect(bytes, length) !== 172) throw new Error("a genuine packet was refused");
    }
  }),
);
