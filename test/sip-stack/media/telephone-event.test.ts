import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EventReceiver, EventSender } from "../../../adapters/sip-stack/media/telephone-event.ts";
import { fuzz } from "../../support/fuzz.ts";

interface KeyPacket {
  readonly event: number;
  readonly end: boolean;
  readonly duration: number;
  readonly frame: number;
  readonly timestamp: number;
  readonly isKeyStart: boolean;
}

/** All packets of these keys; a frame's timestamp is 160 times its number. */
function send(digits: string, clockRate = 8000): { packets: KeyPacket[]; frames: number } {
  const sender = new EventSender();
  const bytes = new Uint8Array(4);
  const packets: KeyPacket[] = [];
  let isDone = false;
  sender.add(digits, () => {
    isDone = true;
  });
  let frame = 0;
  let timestamp = 0;
  for (; sender.isBusy; frame++) {
    const { isKeyStart } = sender;
    if (isKeyStart) timestamp = frame * 160;
    if (!sender.next(bytes, 0, clockRate)) continue;
    const [event = 0, flags = 0, high = 0, low = 0] = bytes;
    packets.push({ event, end: flags >= 0x80, duration: high * 256 + low, frame, timestamp, isKeyStart });
  }
  expect(isDone).toBe(true);
  return { packets, frames: frame };
}

function receive(packets: readonly (Partial<KeyPacket> & { marker?: boolean })[]): string {
  const receiver = new EventReceiver();
  return packets
    .map(({ event = 5, end = false, duration = 160, timestamp = 0, marker = false }) => {
      const bytes = Uint8Array.of(event, (end ? 0x80 : 0) | 10, duration >> 8, duration & 0xff);
      return receiver.take(bytes, 0, 4, timestamp, marker, 8000) ?? "";
    })
    .join("");
}

describe("outgoing keys", () => {
  test("last 100 ms, are updated every 20 ms, and end three times", () => {
    const { packets, frames } = send("4#");
    const fours = packets.filter(({ event }) => event === 4);
    expect(fours.map(({ duration }) => duration)).toEqual([160, 320, 480, 640, 800, 800, 800]);
    expect(fours.map(({ end }) => end)).toEqual([false, false, false, false, true, true, true]);
    const hashes = packets.filter(({ event }) => event === 11);
    expect(hashes.length).toBe(7);
    expect(hashes[0]!.frame - fours.at(-1)!.frame - 1).toBe(2);
    expect(hashes[0]!.isKeyStart).toBe(true);
    expect(frames).toBe(18);
  });

  test("count in their own clock", () => {
    expect(send("1", 48_000).packets.at(-1)?.duration).toBe(4_800);
  });

  test("resolve when the call ends", async () => {
    const sender = new EventSender();
    const keysSent = Promise.all([
      new Promise<void>((resolve) => sender.add("123", resolve)),
      new Promise<void>((resolve) => sender.add("4", resolve)),
    ]);
    sender.stop();
    await keysSent;
    expect(sender.isBusy).toBe(false);
  });
});

describe("incoming keys", () => {
  test("equal the sent keys, each once", () => {
    expect(receive(send("1122*0#D").packets)).toBe("1122*0#D");
  });

  test.each([
    ["without their ends", ({ end }: KeyPacket) => !end],
    ["without their beginnings", ({ duration }: KeyPacket) => duration > 320],
    ["with a single packet each, the last", ({ end, frame }: KeyPacket) => end && frame % 9 === 6],
  ])("are recognised %s", (_, isReceived) => {
    expect(receive(send("5577").packets.filter(isReceived))).toBe("5577");
  });

  test("are one key if duplicated, late, or reordered", () => {
    const { packets } = send("58");
    expect(receive([...packets, ...packets.slice(0, 5)])).toBe("58");
    expect(receive(packets.flatMap((packet) => [packet, packet]))).toBe("58");
    expect(receive([packets[1]!, packets[0]!, packets[3]!, packets[2]!])).toBe("5");
  });

  test("are one key if the sender moves the timestamp with every packet", () => {
    expect(receive([160, 320, 480].map((duration) => ({ duration, timestamp: duration })))).toBe("5");
  });

  test("stay one key while held", () => {
    const segments = [
      { duration: 0xffff, timestamp: 0 },
      { duration: 160, timestamp: 0xffff },
    ];
    expect(receive(segments)).toBe("5");
  });

  test("that are truncated or unknown are ignored", () => {
    expect(receive([{ event: 16 }, { event: 255, timestamp: 9_000 }])).toBe("");
    expect(new EventReceiver().take(Uint8Array.of(1, 2, 3), 0, 3, 0, true, 8000)).toBeUndefined();
  });

  fuzz(
    "are at most one for any packet",
    fc.property(
      fc.array(fc.tuple(fc.uint8Array({ minLength: 4, maxLength: 4 }), fc.nat(0xffffffff), fc.boolean())),
      (packets) => {
        const receiver = new EventReceiver();
        for (const [bytes, timestamp, marker] of packets)
          expect(receiver.take(bytes, 0, 4, timestamp, marker, 8000) ?? "0").toMatch(/^[0-9*#A-D]$/);
      },
    ),
  );
});
