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
const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function bound(address: string): Promise<Socket> {
  const socket = createSocket("udp4");
  await new Promise<void>((resolve) => socket.bind(0, address, resolve));
  closing.push(() => socket.close());
  return socket;
}

/** A session that waits for a peer at `socket`. */
async function listening(socket: Socket, more: Parameters<typeof settingsTo>[1] = {}): Promise<End> {
  const end = await End.open({ lossMs: LOSS_MS });
  closing.push(() => end.engine.close());
  end.session.configure(settingsTo(socket.address().port, more));
  end.session.start();
  return end;
}

/** Sends every 100 ms for three times as long as the watchdog waits; resolves with true if the peer was lost in that time. */
async function lostDespite(end: End, send: (index: number) => void): Promise<boolean> {
  let sent = 0;
  const timer = setInterval(() => send(sent++), 100);
  closing.push(() => clearInterval(timer));
  await until(() => sent >= (3 * LOSS_MS) / 100, "the packets", 10_000);
  clearInterval(timer);
  const lost = end.told.some((told) => told.startsWith("silent"));
  await until(() => end.told.some((told) => told.startsWith("silent")), "the loss after them");
  return lost;
}

function packet(index: number, payloadType: number, length = 172): Uint8Array {
  const bytes = new Uint8Array(length + 14);
  writeRtpHeader(bytes, payloadType, false, index, index * 160, 77);
  return bytes;
}

test.concurrent("a packet of the source is a sign of life, whatever its payload type", async () => {
  const far = await bound(LOOPBACK);
  const end = await listening(far);
  const to = end.session.port;
  const lost = await lostDespite(end, (i) => far.send(packet(i, i === 0 ? 0 : UNKNOWN).subarray(0, 172), to, LOOPBACK));
  expect(lost).toBe(false);
});

test.concurrent("an authenticated packet is a sign of life from anywhere", async () => {
  const far = await bound(LOOPBACK);
  const elsewhere = await bound("127.0.0.2");
  const keys = newSrtpKeys("AES_CM_128_HMAC_SHA1_80", (bytes) => realSystem.random(bytes));
  const end = await listening(far, { srtp: { send: keys, receive: keys } });
  const to = end.session.port;
  const srtp = createSrtp(keys);
  const lost = await lostDespite(end, (i) => {
    const bytes = packet(i, UNKNOWN);
    elsewhere.send(bytes.subarray(0, srtp.protect(bytes, 172)), to, LOOPBACK);
  });
  expect(lost).toBe(false);
});

test.concurrent.each(["RTP", "RTCP"])("%s of a stranger is not a sign of life", async (kind) => {
  const far = await bound(LOOPBACK);
  const stranger = await bound("127.0.0.2");
  const end = await listening(far);
  const report = new Uint8Array(160);
  const length = writeRtcp(report, { ssrc: 9, cname: "abc", sender: undefined, block: undefined, goodbye: false });
  const lost = await lostDespite(end, (i) => {
    if (i % 5 === 0) far.send(packet(i, UNKNOWN).subarray(0, 172), end.session.port, LOOPBACK);
    const bytes = kind === "RTP" ? packet(i, UNKNOWN).subarray(0, 172) : report.subarray(0, length);
    stranger.send(bytes, end.session.port, LOOPBACK);
  });
  expect(lost).toBe(true);
});
