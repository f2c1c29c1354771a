import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { scriptCipher } from "../../../../adapters/sip-stack/media/srtp/packet-cipher.ts";
import { deriveSessionKeys } from "../../../../adapters/sip-stack/media/srtp/session-keys.ts";
import { createSrtp } from "../../../../adapters/sip-stack/media/srtp/srtp.ts";
import { createWasmCipher } from "../../../../adapters/sip-stack/media/srtp/wasm/wasm-cipher.ts";
import { bytes, CIPHERS, hex } from "./support.ts";

const KEY_128 = "e1f97a0d3e018be0d64fa32c06de4139";
const SALT_128 = "0ec675ad498afeebb6960b3aabe6";
const KEY_256 = "f0f04914b513f2763a1b1fa130f10e2998f6f6e43e4309d1e622a0e332b9f1b6";
const SALT_256 = "3b04803de51ee7c96423ab5b78d2";

test("session keys of 128 bits match RFC 3711 appendix B.3", () => {
  const keys = deriveSessionKeys({ key: bytes(KEY_128), salt: bytes(SALT_128) }, "rtp");
  expect(hex(keys.cipher)).toBe("c61e7a93744f39ee10734afe3ff7a087");
  expect(hex(keys.salt)).toBe("30cbbc08863d8c85d49db34a9ae1");
  expect(hex(keys.auth)).toBe("cebe321f6ff7716b6fd4ab49af256a156d38baa4");
});

test("session keys of 256 bits match RFC 6188 section 7.2", () => {
  const keys = deriveSessionKeys({ key: bytes(KEY_256), salt: bytes(SALT_256) }, "rtp");
  expect(hex(keys.cipher)).toBe("5ba1064e30ec51613cad926c5a28ef731ec7fb397f70a960653caf06554cd8c4");
  expect(hex(keys.salt)).toBe("fa31791685ca444a9e07c6c64e93");
  expect(hex(keys.auth)).toBe("fd9c32d39ed5fbb5a9dc96b30818454d1313dc05");
});

/** Length of the keystream in both documents, and their samples of it, with offsets. */
const KEYSTREAM_BYTES = 0xff02 * 16;
const KEYSTREAMS = [
  {
    document: "RFC 3711 appendix B.2",
    key: "2b7e151628aed2a6abf7158809cf4f3c",
    samples: [
      [0, "e03ead0935c95e80e166b16dd92b4eb4d23513162b02d0f72a43a2fe4a5f97ab41e95b3bb0a2e8dd477901e4fca894c0"],
      [0xfeff, "ec8cdf7398607cb0f2d21675ea9ea1e4362b7c3c6773516318a077d7fc5073ae6a2cc3787889374fbeb4c81b17ba6c44"],
    ],
  },
  {
    document: "RFC 6188 section 7.1",
    key: "57f82fe3613fd170a85ec93c40b1f0922ec4cb0dc025b58272147cc438944a98",
    samples: [
      [0, "92bdd28a93c3f52511c677d08b5515a49da71b2378a854f67050756ded165bac63c4868b7096d88421b563b8c94c9a31"],
      [0xfeff, "cea518c90fd91ced9cbb18c078a547113dbc4814f4da5f00a08772b63c6a046d6eb246913062a16891433e97dd01a57f"],
    ],
  },
] as const;

for (const { document, key, samples } of KEYSTREAMS)
  test.each([
    ["script", scriptCipher],
    ["WebAssembly", createWasmCipher(KEYSTREAM_BYTES)!],
  ])(`the keystream of the %s back end matches ${document}`, (_, cipher) => {
    const stream = new Uint8Array(KEYSTREAM_BYTES);
    cipher.keystream(bytes(key), bytes("f0f1f2f3f4f5f6f7f8f9fafbfcfd")).xor(stream, 0, stream.length, 0, 0, 0);
    for (const [block, text] of samples) expect(hex(stream.subarray(block * 16, block * 16 + 48))).toBe(text);
  });

for (const [name, cipher] of CIPHERS) {
  test(`the tag of the ${name} back end matches RFC 2202`, () => {
    const message = new TextEncoder().encode("Hi There");
    expect(hex(cipher.hmac(new Uint8Array(20).fill(0x0b)).digest(message, message.length))).toBe(
      "b617318655057264e28bc0b6fb378c8ef146be00",
    );
  });

  // Vectors of libsrtp's test program.
  const PLAIN = `800f1234decafbadcafebabe${"ab".repeat(16)}`;
  for (const [suite, key, salt, protectedText] of [
    ["AES_CM_128_HMAC_SHA1_80", KEY_128, SALT_128, "4e55dc4ce79978d88ca4d215949d2402b78d6acc99ea179b8dbb"],
    ["AES_256_CM_HMAC_SHA1_80", KEY_256, SALT_256, "f1d9de17ff251ff1aa007774b0b4b40da08d9d9a5b3a55d8873b"],
  ] as const)
    test(`a packet under ${suite} equals libsrtp's, with the ${name} back end`, () => {
      const keys = { suite, key: bytes(key), salt: bytes(salt) };
      const packet = bytes(PLAIN, 64);
      const length = createSrtp(keys, cipher).protect(packet, 28);
      expect(hex(packet.subarray(0, length))).toBe(PLAIN.slice(0, 24) + protectedText);
      expect(createSrtp(keys, cipher).unprotect(packet, length)).toBe(28);
      expect(hex(packet.subarray(0, 28))).toBe(PLAIN);
    });

  test(`an RTCP packet equals libsrtp's, with the ${name} back end`, () => {
    const keys = { suite: "AES_CM_128_HMAC_SHA1_80", key: bytes(KEY_128), salt: bytes(SALT_128) } as const;
    const plain = `81c8000bcafebabe${"ab".repeat(16)}`;
    const sender = createSrtp(keys, cipher);
    sender.protectRtcp(bytes(plain, 64), 24); // libsrtp starts with index 1
    const packet = bytes(plain, 64);
    const length = sender.protectRtcp(packet, 24);
    expect(hex(packet.subarray(0, length))).toBe(
      "81c8000bcafebabe7128035be487b9bdbef89041f977a5a880000001993e08cd54d6c1230798",
    );
    expect(createSrtp(keys, cipher).unprotectRtcp(packet, length)).toBe(24);
    expect(hex(packet.subarray(0, 24))).toBe(plain);
  });
}

test.each(CIPHERS)("the %s HMAC equals the runtime's for lengths around a block", (_, cipher) => {
  const key = Uint8Array.from({ length: 20 }, (_, i) => i * 11);
  const message = Uint8Array.from({ length: 400 }, (_, i) => i * 7);
  const hmac = cipher.hmac(key);
  for (let length = 0; length <= message.length; length++) {
    const reference = createHmac("sha1", key).update(message.subarray(0, length)).digest("hex");
    expect(hex(hmac.digest(message, length))).toBe(reference);
  }
});
