import { Buffer } from "node:buffer";
import {
  MAX_PACKET_BYTES,
  type PacketCipher,
  scriptCipher,
} from "../../../../adapters/sip-stack/media/srtp/packet-cipher.ts";
import { createWasmCipher } from "../../../../adapters/sip-stack/media/srtp/wasm/wasm-cipher.ts";

/** Both implementations; every runtime that the tests use has WebAssembly with vectors. */
export const CIPHERS: readonly (readonly [name: string, cipher: PacketCipher])[] = [
  ["script", scriptCipher],
  ["WebAssembly", createWasmCipher(MAX_PACKET_BYTES)!],
];

/** The bytes of hexadecimal text, at the start of an array of `room` bytes. */
export function bytes(text: string, room: number = text.length / 2): Uint8Array {
  const array = new Uint8Array(room);
  array.set(Buffer.from(text, "hex"));
  return array;
}

export function hex(array: Uint8Array): string {
  return Buffer.from(array).toString("hex");
}

/** An RTP packet with a payload that depends on its number, at the start of an array with room for tags. */
export function rtp(sequence: number, { ssrc = 0x1234abcd, payload = 160, room = 40 } = {}): Uint8Array {
  const packet = new Uint8Array(12 + payload + room);
  const view = new DataView(packet.buffer);
  view.setUint16(0, 0x8000);
  view.setUint16(2, sequence & 0xffff);
  view.setUint32(4, (sequence * 160) >>> 0);
  view.setUint32(8, ssrc);
  for (let i = 0; i < payload; i++) packet[12 + i] = i * 3 + sequence;
  return packet;
}
