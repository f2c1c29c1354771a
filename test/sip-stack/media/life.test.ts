import { createSocket, type Socket } from "node:dgram";
import { afterAll, expect, test } from "vitest";
import { writeRtcp } from "../../../adapters/sip-stack/media/rtcp.ts";
import { writeRtpHeader } from "../../../adapters/sip-stack/media/rtp-packet.ts";
import { newSrtpKeys } from "../../../adapters/sip-stack/media/srtp/sdes.ts";
import { createSrtp } from "../../../adapters/sip-stack/media/srtp/srtp.ts";
import { realSystem } from "../../../src/ports/system.ts";
import { End, LOOPBACK, settingsTo, until } from "./two-ends.ts";

const LOSS_MS = 1_000;
const UNKNOWN = 97;
const cleanups: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of cleanups.splice(0).reverse()) await close();
});

async function bindSocket(address: string): Promise<Socket> {
  const socket = createSocket("udp4");
  await new Promise<void>((resolve) => socket.bind(0, address, resolve));
  cleanups.push(() => socket.close());
  return socket;
}

/** A session that waits for a peer at `socket`. */
async function waitingSession(socket: Socket, options: Parameters<typeof settingsTo>[1] = {}): Promise<End> {
  const end = await End.open({ lossMs: LOSS_MS });
  cleanups.push(() => end.engine.close());
  end.session.configure(settingsTo(socket.address().port, options));
  end.session.start();
  return end;
}

/** Sends every 100 ms for three times the loss timeout; resolves with true if the peer is lost in that time. */
async function isLostDespite(end: End, send: (index: number) => void): Promise<boolean> {
  let sentCount = 0;
  const timer = setInterval(() => send(sentCount++), 100);
  cleanups.push(() => clearInterval(timer));
  await until(() => sentCount >= (3 * LOSS_MS) / 100, "the packets", 10_000);
  clearInterval(timer);
  const isLost = end.events.some((event) => event.startsWith("silent"));
  await until(() => end.events.some((event) => event.startsWith("silent")), "the loss after the packets");
  return isLost;
}

function packet(index: number, payloadType: number, length = 172): Uint8Array {
  const bytes = new Uint8Array(length + 14);
  writeRtpHeader(bytes, payloadType, false, index, index * 160, 77);
  return bytes;
}

test.concurrent("a packet from the source is a sign of life, whatever its payload type", async () => {
  const farEnd = await bindSocket(LOOPBACK);
  const end = await waitingSession(farEnd);
  const to = end.session.port;
  const isLost = await isLostDespite(end, (i) =>
    farEnd.send(packet(i, i === 0 ? 0 : UNKNOWN).subarray(0, 172), to, LOOPBACK),
  );
  expect(isLost).toBe(false);
});

test.concurrent("an authenticated packet is a sign of life from anywhere", async () => {
  const farEnd = await bindSocket(LOOPBACK);
  const otherHost = await bindSocket("127.0.0.2");
  const keys = newSrtpKeys("AES_CM_128_HMAC_SHA1_80", (bytes) => realSystem.random(bytes));
  const end = await waitingSession(farEnd, { srtp: { send: keys, receive: keys } });
  const to = end.session.port;
  const srtp = createSrtp(keys);
  const isLost = await isLostDespite(end, (i) => {
    const bytes = packet(i, UNKNOWN);
    otherHost.send(bytes.subarray(0, srtp.protect(bytes, 172)), to, LOOPBACK);
  });
  expect(isLost).toBe(false);
});

test.concurrent.each(["RTP", "RTCP"])("%s from a stranger is not a sign of life", async (kind) => {
  const farEnd = await bindSocket(LOOPBACK);
  const stranger = await bindSocket("127.0.0.2");
  const end = await waitingSession(farEnd);
  const report = new Uint8Array(160);
  const length = writeRtcp(report, { ssrc: 9, cname: "abc", sender: undefined, block: undefined, goodbye: false });
  const isLost = await isLostDespite(end, (i) => {
    if (i % 5 === 0) farEnd.send(packet(i, UNKNOWN).subarray(0, 172), end.session.port, LOOPBACK);
    const bytes = kind === "RTP" ? packet(i, UNKNOWN).subarray(0, 172) : report.subarray(0, length);
    stranger.send(bytes, end.session.port, LOOPBACK);
  });
  expect(isLost).toBe(true);
});
