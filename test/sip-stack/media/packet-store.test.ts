import { expect, test } from "vitest";
import { PacketStore } from "../../../adapters/sip-stack/media/jitter/packet-store.ts";

function payloadOf(store: PacketStore, sequence: number): number[] {
  return [...store.payload(sequence).subarray(0, store.length(sequence))];
}

test("a payload stays the same when its datagram is overwritten", () => {
  const store = new PacketStore();
  const datagram = Uint8Array.of(9, 9, 1, 2, 3);
  store.put(100, 0, datagram, 2, 3);
  datagram.fill(0);
  expect(payloadOf(store, 100)).toEqual([1, 2, 3]);
});

test("a minute of packets uses as many buffers as packets wait at a time", () => {
  const store = new PacketStore();
  const buffers = new Set<Uint8Array>();
  for (let sequence = 0; sequence < 3_000; sequence++) {
    store.put(sequence, 160 * sequence, new Uint8Array(172).fill(sequence), 12, 150 + (sequence % 10));
    buffers.add(store.payload(sequence));
    if (sequence < 4) continue;
    const played = sequence - 4;
    expect(payloadOf(store, played)).toEqual(new Array(150 + (played % 10)).fill(played & 0xff));
    store.pass(played);
  }
  expect(buffers.size).toBeLessThanOrEqual(5);
});

test("packets that are never played leave no buffer behind", () => {
  const store = new PacketStore();
  const buffers = new Set<Uint8Array>();
  for (let jump = 0; jump < 20; jump++) {
    const first = jump * 1_000;
    for (let sequence = first; sequence < first + 40; sequence++) {
      store.put(sequence, 0, new Uint8Array(160), 0, 160);
      buffers.add(store.payload(sequence));
    }
    if (jump % 2 === 0) store.clear();
  }
  expect(buffers.size).toBeLessThanOrEqual(64);
});
