import { createSocket, type Socket } from "node:dgram";
import { afterEach, describe, expect, test } from "vitest";
import type { SrtpKeys } from "../../../adapters/sip-stack/media/engine.ts";
import { RtpPacket } from "../../../adapters/sip-stack/media/rtp-packet.ts";
import { newSrtpKeys, parseCrypto, writeCrypto } from "../../../adapters/sip-stack/media/srtp/sdes.ts";
import { createSrtp } from "../../../adapters/sip-stack/media/srtp/srtp.ts";
import { createNegotiation } from "../../../adapters/sip-stack/sdp/negotiation.ts";
import { attribute, parseSdp } from "../../../adapters/sip-stack/sdp/sdp.ts";
import { decodeMulaw } from "../../../src/audio/samples/g711-companding.ts";
import { tone, toneShare } from "../../../src/audio/tones/tone.ts";
import { realSystem } from "../../../src/ports/system.ts";
import { End, LOOPBACK, until } from "../media/two-ends.ts";

const SUITE = "AES_CM_128_HMAC_SHA1_80";
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of cleanups.splice(0).reverse()) await close();
});

/** A phone: its socket, its SDP with its own key, and the packets received, unchanged. */
class Phone {
  readonly packets: Uint8Array[] = [];
  readonly #socket: Socket = createSocket("udp4");
  #key = "";

  static async open(): Promise<Phone> {
    const phone = new Phone();
    phone.newKey();
    phone.#socket.on("message", (bytes) => {
      if (bytes[1]! < 192) phone.packets.push(Uint8Array.from(bytes));
    });
    await new Promise<void>((resolve) => phone.#socket.bind(0, LOOPBACK, resolve));
    cleanups.push(() => phone.#socket.close());
    return phone;
  }

  newKey(): void {
    this.#key = writeCrypto({ tag: 1, keys: newSrtpKeys(SUITE, (bytes) => realSystem.random(bytes)) });
  }

  sdp(direction = "sendrecv"): string {
    const { port } = this.#socket.address();
    const session = ["v=0", `o=- 1 1 IN IP4 ${LOOPBACK}`, "s=-", `c=IN IP4 ${LOOPBACK}`, "t=0 0"];
    const media = [`m=audio ${port} RTP/SAVP 0`, `a=crypto:${this.#key}`, "a=rtcp-mux", `a=${direction}`];
    return [...session, ...media, ""].join("\r\n");
  }

  /** Packets that this key decrypts, as audio and by SSRC. */
  decrypted(keys: SrtpKeys, from = 0): { samples: Int16Array; packets: number; ssrcs: number[] } {
    const srtp = createSrtp(keys);
    const rtpPacket = new RtpPacket();
    const samples: number[] = [];
    const ssrcs = new Set<number>();
    let packets = 0;
    for (const packet of this.packets.slice(from)) {
      const bytes = Uint8Array.from(packet);
      const length = srtp.unprotect(bytes, bytes.length);
      if (length < 0 || !rtpPacket.parse(bytes, length)) continue;
      packets++;
      ssrcs.add(rtpPacket.ssrc);
      samples.push(...decodeMulaw(bytes.subarray(rtpPacket.payloadAt, rtpPacket.payloadAt + rtpPacket.payloadLength)));
    }
    return { samples: Int16Array.from(samples), packets, ssrcs: [...ssrcs] };
  }
}

/** A call to a phone with scripted signalling; `keyIn` returns our key in our SDP. */
async function callTo(phone: Phone) {
  const end = await End.open();
  cleanups.push(() => end.engine.close());
  const negotiation = createNegotiation({
    codecs: ["PCMU"],
    srtp: "required",
    address: LOOPBACK,
    port: end.session.port,
    random: (bytes) => realSystem.random(bytes),
    onNegotiated: (settings) => end.session.configure(settings),
  });
  const keyIn = (sdp: string | undefined): SrtpKeys =>
    parseCrypto(attribute(parseSdp(sdp!)!.media[0]!, "crypto")!)!.keys;
  const key = keyIn(negotiation.offer());
  expect(negotiation.takeAnswer(phone.sdp(), false)).toBeUndefined();
  end.session.start();
  end.say(tone(440, 10_000, 8000, 8000));
  await until(() => phone.packets.length > 30, "our audio at the phone");
  return { end, negotiation, key, keyIn };
}

const hasTone = ({ samples }: { samples: Int16Array }): boolean => toneShare(samples.subarray(-1_600), 440, 8000) > 0.9;

describe("the SRTP key of our audio", () => {
  test("changes with its SSRC when the call is moved to another phone", async () => {
    const [first, second] = [await Phone.open(), await Phone.open()];
    const { negotiation, key, keyIn } = await callTo(first);
    const newKey = keyIn(negotiation.answerOffer(second.sdp()));
    await until(() => second.packets.length > 30, "our audio at the second phone");
    const [firstAudio, secondAudio] = [first.decrypted(key), second.decrypted(newKey)];
    expect([hasTone(firstAudio), hasTone(secondAudio)]).toEqual([true, true]);
    expect([firstAudio.packets, secondAudio.packets]).toEqual([first.packets.length, second.packets.length]);
    expect([firstAudio.ssrcs.length, secondAudio.ssrcs.length]).toEqual([1, 1]);
    expect(secondAudio.ssrcs).not.toEqual(firstAudio.ssrcs);
    expect([first.decrypted(newKey).packets, second.decrypted(key).packets]).toEqual([0, 0]);
  });

  test("changes with another key from the same address", async () => {
    const phone = await Phone.open();
    const { negotiation, key, keyIn } = await callTo(phone);
    phone.newKey();
    const newKey = keyIn(negotiation.answerOffer(phone.sdp()));
    await until(() => phone.decrypted(newKey).packets > 30, "our audio with the new key");
    expect(newKey.key).not.toEqual(key.key);
    expect(hasTone(phone.decrypted(newKey))).toBe(true);
  });

  test("changes in a requested offer, after its answer", async () => {
    const [first, second] = [await Phone.open(), await Phone.open()];
    const { negotiation, key, keyIn } = await callTo(first);
    const newKey = keyIn(negotiation.offer(true));
    const { length } = first.packets;
    await until(() => first.packets.length > length + 10, "our audio until the answer");
    expect(negotiation.takeAnswer(second.sdp(), false)).toBeUndefined();
    await until(() => second.packets.length > 30, "our audio at the second phone");
    expect(first.decrypted(key).packets).toBe(first.packets.length);
    expect(hasTone(second.decrypted(newKey))).toBe(true);
    expect([first.decrypted(newKey).packets, second.decrypted(key).packets]).toEqual([0, 0]);
  });

  test("stays with its SSRC and sequence through holds and refreshes", async () => {
    const phone = await Phone.open();
    const { end, negotiation, key, keyIn } = await callTo(phone);
    const keys = [keyIn(negotiation.answerOffer(phone.sdp("sendonly"))), keyIn(negotiation.answerOffer(phone.sdp()))];
    keys.push(keyIn(negotiation.offer()));
    expect(negotiation.takeAnswer(phone.sdp(), false)).toBeUndefined();
    for (const entry of keys) expect(entry.key).toEqual(key.key);
    const { length } = phone.packets;
    await until(() => phone.packets.length > length + 20, "our audio after that");
    await end.session.close();
    const audio = phone.decrypted(key);
    expect(audio.ssrcs).toHaveLength(1);
    expect(audio.packets).toBe(phone.packets.length);
  });
});
