import { createSocket, type Socket } from "node:dgram";
import { afterEach, expect, test } from "vitest";
import { writeRtpHeader } from "../../../adapters/sip-stack/media/rtp-packet.ts";
import { newSrtpKeys } from "../../../adapters/sip-stack/media/srtp/sdes.ts";
import { createSrtp } from "../../../adapters/sip-stack/media/srtp/srtp.ts";
import { encodeMulaw } from "../../../src/audio/samples/g711-companding.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import { realSystem } from "../../../src/ports/system.ts";
import { End, heardTone, LOOPBACK, settingsTo, until } from "./two-ends.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of cleanups.splice(0).reverse()) await close();
});

/** A host on the network: a socket, and the audio that we sent to it. */
async function openHost(address = LOOPBACK): Promise<{ socket: Socket; port: number; received: number }> {
  const socket = createSocket("udp4");
  const host = { socket, port: 0, received: 0 };
  socket.on("message", (bytes) => {
    if (bytes[1]! < 192) host.received++;
  });
  await new Promise<void>((resolve) => socket.bind(0, address, resolve));
  host.port = socket.address().port;
  cleanups.push(() => socket.close());
  return host;
}

async function sessionTo(port: number, options: Parameters<typeof settingsTo>[1] = {}): Promise<End> {
  const end = await End.open();
  cleanups.push(() => end.engine.close());
  end.session.configure(settingsTo(port, options));
  end.session.start();
  return end;
}

/** Creates a voice that can continue from any host. The voice's packets are sent one after the other. */
function voiceOf(end: End, { ssrc = 77, hz = 400, protect = (_: Uint8Array, length: number) => length } = {}) {
  const payload = encodeMulaw(tone(hz, 20, 8000, 8000));
  let sequence = 500;
  return async (from: { socket: Socket }, packets: number): Promise<void> => {
    for (let i = 0; i < packets; i++, sequence++) {
      const packet = new Uint8Array(200);
      writeRtpHeader(packet, 0, false, sequence, sequence * 160, ssrc);
      packet.set(payload, 12);
      const bytes = packet.subarray(0, protect(packet, 172));
      await new Promise<unknown>((sent) => from.socket.send(bytes, end.session.port, LOOPBACK, sent));
    }
  };
}

/** Waits until the source has been silent for long enough to continue on another host. */
async function silenceForMove(): Promise<void> {
  const from = performance.now();
  await until(() => performance.now() > from + 210, "the silence after which another host is followed");
}

test("a phone behind a changing NAT gets audio at each mapping", async () => {
  const [first, second, third] = [await openHost(), await openHost("127.0.0.2"), await openHost("127.0.0.3")];
  const otherPort = await openHost("127.0.0.3");
  const end = await sessionTo(first.port);
  const speak = voiceOf(end);
  for (const mapping of [first, second, third, otherPort, second]) {
    const { received } = mapping;
    if (mapping !== otherPort) await silenceForMove();
    await speak(mapping, 10);
    await until(() => mapping.received >= received + 5, "our audio at this mapping", 1_000);
  }
  expect(end.session.statistics()).toMatchObject({ packetsReceived: 50, packetsLost: 0, packetsInjected: 0 });
});

test("a pausing phone keeps our audio despite strangers", async () => {
  const [phone, stranger] = [await openHost(), await openHost("127.0.0.2")];
  const end = await sessionTo(phone.port);
  const speak = voiceOf(end);
  await speak(phone, 10);
  await until(() => heardTone(end, 400), "its voice");
  const { reads } = end;
  await until(() => end.reads > reads + 20, "0.4 s of silence");
  await voiceOf(end, { ssrc: 5, hz: 1_000 })(stranger, 4);
  await until(() => end.session.statistics().packetsInjected === 4, "the stranger's packets");
  const { received } = phone;
  await until(() => phone.received > received + 10, "our audio at the phone");
  const heardBefore = end.heard.length;
  await speak(phone, 20);
  await until(() => heardTone(end, 400, heardBefore), "its voice again");
  expect(stranger.received).toBe(0);
});

test("a phone regains its place from a stranger with its next packet", async () => {
  const [phone, stranger] = [await openHost(), await openHost("127.0.0.2")];
  const end = await sessionTo(phone.port);
  const speak = voiceOf(end);
  await speak(phone, 10);
  const { reads } = end;
  await until(() => end.reads > reads + 110, "2.2 s of silence");
  await voiceOf(end, { ssrc: 5, hz: 1_000 })(stranger, 10);
  await until(() => stranger.received > 0, "our audio at the stranger");
  const { received } = phone;
  await speak(phone, 1);
  await until(() => phone.received > received + 10, "our audio at the phone");
  const receivedBefore = stranger.received;
  const heardBefore = end.heard.length;
  await speak(phone, 20);
  await until(() => heardTone(end, 400, heardBefore), "its voice");
  expect(stranger.received).toBe(receivedBefore);
  expect(end.session.statistics().packetsInjected).toBe(10);
});

test("our audio follows an encrypted phone by its own packets only; others are counted", async () => {
  const [phone, newHost, stranger] = [await openHost(), await openHost("127.0.0.2"), await openHost("127.0.0.3")];
  const keys = newSrtpKeys("AES_CM_128_HMAC_SHA1_80", (bytes) => realSystem.random(bytes));
  const end = await sessionTo(phone.port, { srtp: { send: keys, receive: keys } });
  const srtp = createSrtp(keys);
  const protect = (packet: Uint8Array, length: number): number => srtp.protect(packet, length);
  const speak = voiceOf(end, { protect });
  await speak(phone, 10);
  await voiceOf(end)(stranger, 60); // as if it continued there
  await silenceForMove();
  await voiceOf(end, { ssrc: 4, protect })(newHost, 10); // another source, with the right keys
  await until(() => newHost.received > 5, "our audio where the phone is now");
  expect(end.session.statistics()).toMatchObject({ packetsReceived: 20, packetsInjected: 60 });
  expect(stranger.received).toBe(0);
});

test.each([
  ["another address", LOOPBACK],
  ["no usable address", "0.0.0.0"],
])("our audio goes to a voice if the SDP names %s, without counting it as evidence", async (_, address) => {
  const behindNat = await openHost("127.0.0.2");
  const remote = { address, port: address === LOOPBACK ? 9 : 0 };
  const end = await sessionTo(0, { remote, remoteRtcp: remote });
  await voiceOf(end)(behindNat, 10);
  await until(() => behindNat.received >= 5, "our audio where its audio comes from", 2_000);
  expect(end.session.evidence()).toMatchObject({ kind: "none", fromOtherHost: true });
});
