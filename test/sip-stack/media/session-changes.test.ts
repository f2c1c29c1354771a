import { createSocket, type Socket } from "node:dgram";
import * as fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import type { SrtpKeys } from "../../../adapters/sip-stack/media/engine.ts";
import { RtpPacket, writeRtpHeader } from "../../../adapters/sip-stack/media/rtp-packet.ts";
import { newSrtpKeys } from "../../../adapters/sip-stack/media/srtp/sdes.ts";
import { encodeMulaw } from "../../../src/audio/samples/g711-companding.ts";
import { tone, toneShare } from "../../../src/audio/tones/tone.ts";
import { realSystem } from "../../../src/ports/system.ts";
import { End, heardTone, LOOPBACK, settingsTo, twoEnds, until } from "./two-ends.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of cleanups.splice(0)) await close();
});

async function call(...options: Parameters<typeof twoEnds>): ReturnType<typeof twoEnds> {
  const ends = await twoEnds(...options);
  cleanups.push(ends.close);
  return ends;
}

/** A socket that records what it receives. */
async function openSocket(): Promise<{ socket: Socket; port: number; received: Uint8Array[] }> {
  const socket = createSocket("udp4");
  const receivedPackets: Uint8Array[] = [];
  socket.on("message", (bytes) => receivedPackets.push(bytes));
  await new Promise<void>((resolve) => socket.bind(0, LOOPBACK, resolve));
  cleanups.push(() => socket.close());
  return { socket, port: socket.address().port, received: receivedPackets };
}

async function openEnd(options: Parameters<typeof End.open>[0] = {}): Promise<End> {
  const end = await End.open(options);
  cleanups.push(() => end.engine.close());
  return end;
}

const loudSampleCount = (samples: Int16Array): number => samples.filter((sample) => Math.abs(sample) > 1_000).length;
const voice = encodeMulaw(tone(400, 20, 8000, 8000));

/** Sends `count` packets of a voice, each after the previous one was sent: otherwise Deno may reorder them. */
async function speak(
  socket: Socket,
  to: number,
  count: number,
  { first = 0, ssrc = 77, payloadType = 0, timestamp }: Readonly<Record<string, number>> = {},
): Promise<void> {
  for (let i = first; i < first + count; i++) {
    const packet = new Uint8Array(172);
    writeRtpHeader(
      packet,
      payloadType,
      false,
      i,
      timestamp === undefined ? i * 160 : timestamp + (i - first) * 160,
      ssrc,
    );
    packet.set(voice, 12);
    await new Promise<unknown>((sent) => socket.send(packet, to, LOOPBACK, sent));
  }
}

describe("our stream", () => {
  test("starts immediately, has no gap, and ends with a BYE", async () => {
    const farEnd = await openSocket();
    const end = await openEnd();
    end.session.configure(settingsTo(farEnd.port));
    end.session.start();
    end.session.start();
    await until(() => farEnd.received.length >= 50, "a second of packets");
    await end.session.close();
    await until(() => farEnd.received.some((bytes) => bytes[1] === 200), "the last report");
    const packet = new RtpPacket();
    const rtp = farEnd.received.filter((bytes) => bytes[1]! < 192 || bytes[1]! > 223);
    const headers = rtp.map((bytes) => {
      expect(packet.parse(bytes, bytes.length)).toBe(true);
      expect(bytes.subarray(12).every((code) => code === 0xff)).toBe(true);
      return { sequence: packet.sequence, timestamp: packet.timestamp, marker: packet.marker };
    });
    for (let i = 1; i < headers.length; i++) {
      expect((headers[i]!.sequence - headers[i - 1]!.sequence) & 0xffff).toBe(1);
      expect((headers[i]!.timestamp - headers[i - 1]!.timestamp) >>> 0).toBe(160);
    }
    expect(headers.map(({ marker }) => marker).indexOf(true)).toBe(0);
    expect(headers.filter(({ marker }) => marker).length).toBe(1);
    expect(end.events).toEqual(["sending"]);
  });

  test("is reported at the start if its silence was sent before", async () => {
    const farEnd = await openSocket();
    const end = await openEnd();
    end.session.configure(settingsTo(farEnd.port));
    await until(() => farEnd.received.length > 0, "silence before the start");
    expect(end.events).toEqual([]);
    end.session.start();
    await end.session.close();
    expect(end.events).toEqual(["sending"]);
  });

  test("pauses its source on hold, then continues", async () => {
    const { a, b } = await call();
    const clip = tone(440, 400, 8000, 8000);
    a.say(clip);
    await until(() => a.reads >= 10, "half of it");
    a.session.configure(settingsTo(b.session.port, { direction: "recvonly" }));
    const { reads } = a;
    const { packetsSent } = a.session.statistics();
    await until(() => a.session.statistics().heldMs >= 200, "200 ms of hold");
    expect(a.reads).toBe(reads);
    expect(a.session.statistics().packetsSent).toBe(packetsSent);
    a.session.configure(settingsTo(b.session.port));
    await until(() => a.hasPlayedClip, "the rest");
    await until(() => b.session.statistics().packetsReceived >= packetsSent + 10, "the rest arrives");
    expect(b.session.statistics().packetsLost).toBe(0);
    expect(b.events.filter((event) => event !== "sending" && event !== "receiving")).toEqual([]);
  });

  test("sends keys after the hold", async () => {
    const { a, b } = await call();
    a.session.configure(settingsTo(b.session.port, { direction: "inactive" }));
    const keysSent = a.session.sendDigits("7");
    await until(() => a.session.statistics().heldMs >= 100, "100 ms of hold");
    expect(b.digits).toEqual([]);
    a.session.configure(settingsTo(b.session.port));
    await keysSent;
    await until(() => b.digits.length === 1, "the key");
  });

  test("of a closed call releases waiting keys", async () => {
    const { a } = await call();
    const keysSent = a.session.sendDigits("123456789");
    await a.session.close();
    await keysSent;
    await a.session.sendDigits("1");
  });
});

describe("the peer", () => {
  test("is found behind its NAT, and gets our audio there", async () => {
    const nat = await openSocket();
    const end = await openEnd();
    end.session.configure(settingsTo(9)); // without a listener
    end.session.start();
    await speak(nat.socket, end.session.port, 10);
    await until(() => nat.received.length > 5, "our audio at the address behind the NAT");
    await until(() => heardTone(end, 400), "its audio");
    expect(end.session.statistics().packetsReceived).toBe(10);
  });

  test("that never sends, or falls silent, is reported as lost except on hold", async () => {
    const farEnd = await openSocket();
    const muteEnd = await openEnd({ lossMs: 200 });
    muteEnd.session.configure(settingsTo(farEnd.port));
    muteEnd.session.start();
    const heldEnd = await openEnd({ lossMs: 200 });
    heldEnd.session.configure(settingsTo(farEnd.port, { direction: "inactive" }));
    heldEnd.session.start();
    const silencedEnd = await openEnd({ lossMs: 200 });
    silencedEnd.session.configure(settingsTo(farEnd.port));
    silencedEnd.session.start();
    await speak(farEnd.socket, silencedEnd.session.port, 5);
    await until(() => muteEnd.events.length > 1 && silencedEnd.events.length > 2, "both are lost");
    expect(muteEnd.events[1]).toMatch(/^silent: no audio at all .* firewall/);
    expect(silencedEnd.events[2]).toMatch(/^silent: no audio came/);
    expect(heldEnd.events).toEqual([]);
  });

  test("may send early media, during which the source is not read", async () => {
    const farEnd = await openSocket();
    const end = await openEnd();
    const earlyFrames: Int16Array[] = [];
    end.session.connect(end, end, { write: (frame) => earlyFrames.push(frame.slice()) });
    end.session.configure(settingsTo(farEnd.port));
    await speak(farEnd.socket, end.session.port, 10);
    await until(() => earlyFrames.length >= 10, "early media");
    expect(end.events).toEqual(["receiving"]);
    expect([end.reads, end.heard.length]).toEqual([0, 0]);
    await until(() => farEnd.received.length > 2, "silence that opens the NAT");
    end.session.start();
    await until(() => end.reads >= 20, "the end of early media");
    expect(end.heard.length).toBe(0);
    await speak(farEnd.socket, end.session.port, 25, { first: 30 });
    await until(() => heardTone(end, 400), "the call");
    expect(end.events).toEqual(["receiving", "sending", "receiving"]);
  });

  test("may send the other G.711 law, and comfort noise in between, unannounced", async () => {
    const farEnd = await openSocket();
    const end = await openEnd();
    end.session.configure(settingsTo(farEnd.port, { codec: "PCMA", payloadType: { send: 8, receive: 8 } }));
    end.session.start();
    await speak(farEnd.socket, end.session.port, 5); // PCMU
    await speak(farEnd.socket, end.session.port, 1, { first: 5, payloadType: 13 });
    await speak(farEnd.socket, end.session.port, 5, { first: 6 });
    await until(() => heardTone(end, 400), "its audio");
    expect(end.session.statistics()).toMatchObject({ packetsReceived: 11, packetsLost: 0, packetsInvalid: 0 });
    await speak(farEnd.socket, end.session.port, 2, { first: 11, payloadType: 1, ssrc: 4 });
    await until(() => end.session.statistics().packetsInvalid === 2, "the packets of an unknown type");
  });

  test("may change its source, its codec and its address", async () => {
    const farEnd = await openSocket();
    const end = await openEnd();
    end.session.configure(settingsTo(farEnd.port));
    end.session.start();
    await speak(farEnd.socket, end.session.port, 20);
    await until(() => end.session.statistics().packetsReceived === 20, "the first source");
    await new Promise((resolve) => setTimeout(resolve, 100)); // it has stopped
    await speak(farEnd.socket, end.session.port, 20, { ssrc: 5, first: 40_000 });
    await until(() => end.session.statistics().packetsReceived === 40, "the second source");
    const movedSocket = await openSocket();
    end.session.configure(settingsTo(movedSocket.port, { codec: "PCMA", payloadType: { send: 8, receive: 8 } }));
    await speak(movedSocket.socket, end.session.port, 20, { ssrc: 6, payloadType: 8 });
    await until(() => end.session.statistics().packetsReceived === 60, "the third");
    await until(() => movedSocket.received.some((bytes) => (bytes[1]! & 0x7f) === 8), "our PCMA at its new place");
    expect(end.session.statistics()).toMatchObject({ packetsLost: 0, packetsInvalid: 0, codec: "PCMA" });
  });
});

describe("the first words of a phone that takes over a call", () => {
  test.each([0, -40, -90, 15])(
    "are heard, if its sequence numbers start %i from the end of the old ones",
    async (gap) => {
      const [before, after] = [await openSocket(), await openSocket()];
      const end = await openEnd();
      const callStartedAt = performance.now();
      const say = async (
        { socket }: { socket: Socket },
        from: number,
        packets: number,
        ssrc: number,
      ): Promise<void> => {
        const startedAt = performance.now();
        for (let i = 0; i < packets; i++) {
          await until(() => performance.now() >= startedAt + i * 20, "the time of the packet");
          // Both count their timestamps by the same clock.
          const timestamp = 50_000 + Math.round((performance.now() - callStartedAt) / 20) * 160;
          await speak(socket, end.session.port, 1, { first: from + i, ssrc, timestamp });
        }
      };
      end.session.configure(settingsTo(before.port));
      end.session.start();
      await say(before, 1_000, 50, 77);
      await until(() => end.session.statistics().packetsReceived === 50, "the first phone");
      end.session.configure(settingsTo(after.port));
      await until(() => end.heard.length > 0 && loudSampleCount(end.heard.subarray(-1_600)) === 0, "silence");
      const heardBefore = end.heard.length;
      await say(after, 1_050 + gap, 50, 6);
      await until(() => end.session.statistics().packetsReceived === 100, "the second phone");
      await until(() => loudSampleCount(end.heard.subarray(-1_600)) === 0, "silence");
      expect(loudSampleCount(end.heard.subarray(heardBefore))).toBeGreaterThan(
        0.6 * loudSampleCount(tone(400, 1_000, 8000, 8000)),
      );
      expect(end.session.statistics()).toMatchObject({ packetsDuplicated: 0, packetsInvalid: 0, packetsReordered: 0 });
    },
  );
});

describe("a live call", () => {
  test("is not disturbed by strangers' packets", async () => {
    const { a, b } = await call();
    const { socket } = await openSocket();
    a.say(tone(440, 3_000, 8000, 8000));
    await until(() => b.heard.length > 1_600, "audio runs");
    const randomPackets = fc.sample(
      fc.oneof(
        fc.uint8Array({ maxLength: 200 }),
        fc
          .tuple(fc.constantFrom(0x80, 0x81, 0x90, 0xa0, 0xb0, 0, 1), fc.nat(255), fc.uint8Array({ maxLength: 200 }))
          .map(([first, second, rest]) => Uint8Array.of(first, second, ...rest)),
      ),
      1_000,
    );
    const from = b.heard.length;
    for (const [index, bytes] of randomPackets.entries()) {
      socket.send(bytes, b.session.port, LOOPBACK);
      if (index % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await speak(socket, b.session.port, 50, { ssrc: 1234 });
    await until(() => b.session.statistics().packetsInvalid > 800, "the random packets have arrived");
    await until(() => b.heard.length > from + 8_000, "another second");
    const shares = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((tenth) => {
      const start = from + tenth * 800;
      return toneShare(b.heard.subarray(start, start + 800), 440, 8000);
    });
    expect(shares.filter((share) => share > 0.9).length, String(shares)).toBeGreaterThan(7);
    expect(b.digits).toEqual([]);
    expect(b.events).toEqual(["sending", "receiving"]);
    expect(b.session.statistics().packetsLost).toBe(0);
  });

  const keys = (): SrtpKeys => newSrtpKeys("AES_CM_128_HMAC_SHA1_80", (bytes) => realSystem.random(bytes));

  test("is encrypted with both keys, RTCP included", async () => {
    const [keysA, keysB] = [keys(), keys()];
    const a = await openEnd();
    const b = await End.open({ lossMs: 1_000 }, a.engine);
    a.session.configure(settingsTo(b.session.port, { srtp: { send: keysA, receive: keysB } }));
    b.session.configure(settingsTo(a.session.port, { srtp: { send: keysB, receive: keysA } }));
    a.session.start();
    b.session.start();
    await until(() => b.heard.length > 4_000, "audio runs");
    a.say(tone(440, 500, 8000, 8000));
    const { socket } = await openSocket();
    await speak(socket, b.session.port, 5);
    await until(() => a.hasPlayedClip && b.heard.length > 10_000, "a has spoken");
    const first = b.heard.findIndex((sample) => Math.abs(sample) > 2_000);
    expect(toneShare(b.heard.subarray(first, first + 3_800), 440, 8000)).toBeGreaterThan(0.98);
    expect(b.session.statistics()).toMatchObject({ packetsInvalid: 5, packetsLost: 0 });
    // A re-INVITE that names the same keys has no effect; one with others changes both sides.
    a.session.configure(settingsTo(b.session.port, { srtp: { send: { ...keysA }, receive: { ...keysB } } }));
    const before = b.session.statistics().packetsReceived;
    await until(() => b.session.statistics().packetsReceived > before + 10, "packets under the same keys");
    expect(b.session.statistics().packetsInvalid).toBe(5);
    await a.session.close();
    await until(() => b.events.some((event) => event.includes("RTCP BYE")), "the goodbye");
  });

  test("measures round trip and loss from RTCP, multiplexed or not", async () => {
    const engine = (await openEnd()).engine;
    const a = await End.open({ lossMs: 1_000 }, engine);
    const b = await End.open({}, engine);
    const to = (end: End) =>
      settingsTo(end.session.port, {
        rtcpMux: false,
        remoteRtcp: { address: LOOPBACK, port: end.session.port + 1 },
      });
    a.session.configure(to(b));
    b.session.configure(to(a));
    a.session.start();
    b.session.start();
    await until(() => a.session.statistics().roundTripMs !== null, "a report about a report", 16_000);
    const { roundTripMs, remoteLoss, packetsInvalid } = a.session.statistics();
    expect(roundTripMs).toBeLessThan(100);
    expect(remoteLoss).toBeLessThan(0.05);
    expect(packetsInvalid).toBe(0);
    await b.session.close();
    await until(() => a.events.some((event) => event.includes("RTCP BYE")), "the goodbye");
  });

  test("works the same over IPv6", async () => {
    const a = await openEnd({ address: "::1" });
    const b = await End.open({ address: "::1" }, a.engine);
    a.session.configure(settingsTo(b.session.port, { remote: { address: "0:0::1", port: b.session.port } }));
    b.session.configure(settingsTo(a.session.port, { remote: { address: "::1", port: a.session.port } }));
    a.session.start();
    b.session.start();
    await until(() => a.heard.length > 1_600 && b.heard.length > 1_600, "both ends receive audio");
    expect(b.session.statistics().packetsLost).toBe(0);
  });
});
