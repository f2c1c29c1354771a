import { describe, expect, test } from "vitest";
import type { StreamSettings } from "../../../adapters/sip-stack/media/engine.ts";
import { newSrtpKeys, parseCrypto, writeCrypto } from "../../../adapters/sip-stack/media/srtp/sdes.ts";
import { createNegotiation, type NegotiationOptions } from "../../../adapters/sip-stack/sdp/negotiation.ts";
import { attribute, attributes, parseSdp } from "../../../adapters/sip-stack/sdp/sdp.ts";
import { ManualSystem } from "../../../src/testing/manual-system.ts";

function negotiate(options: Partial<NegotiationOptions> = {}) {
  const system = new ManualSystem();
  const agreements: StreamSettings[] = [];
  const negotiation = createNegotiation({
    codecs: ["PCMU", "PCMA"],
    srtp: "off",
    address: "192.0.2.1",
    port: 40_000,
    random: (bytes) => system.random(bytes),
    onNegotiated: (settings) => agreements.push(settings),
    ...options,
  });
  return { negotiation, agreements };
}

function answer(media: string[], session: string[] = ["c=IN IP4 192.0.2.9"]): string {
  return ["v=0", "o=- 1 1 IN IP4 192.0.2.9", "s=-", ...session, "t=0 0", ...media, ""].join("\r\n");
}

const PLAIN = answer(["m=audio 5000 RTP/AVP 0 101", "a=rtpmap:101 telephone-event/8000"]);

function keyLine(tag: number, suite: "AES_CM_128_HMAC_SHA1_80" | "AES_CM_128_HMAC_SHA1_32"): string {
  const system = new ManualSystem({ seed: 7 });
  return `a=crypto:${writeCrypto({ tag, keys: newSrtpKeys(suite, (bytes) => system.random(bytes)) })}`;
}

describe("our offer", () => {
  test("lists codecs in order, telephone-event and our address", () => {
    const { negotiation } = negotiate({ codecs: ["PCMA", "opus", "PCMU"], address: "2001:db8::1" });
    const offer = negotiation.offer();
    expect(offer.split("\r\n")).toEqual([
      "v=0",
      expect.stringMatching(/^o=- \d+ 1 IN IP6 2001:db8::1$/),
      "s=-",
      "c=IN IP6 2001:db8::1",
      "t=0 0",
      "m=audio 40000 RTP/AVP 8 111 0 101 110",
      "a=rtpmap:8 PCMA/8000",
      "a=rtpmap:111 opus/48000/2",
      "a=fmtp:111 maxplaybackrate=16000;sprop-maxcapturerate=16000;maxaveragebitrate=20000;useinbandfec=1",
      "a=rtpmap:0 PCMU/8000",
      "a=rtpmap:101 telephone-event/8000",
      "a=fmtp:101 0-16",
      "a=rtpmap:110 telephone-event/48000",
      "a=fmtp:110 0-16",
      "a=ptime:20",
      "a=maxptime:20",
      "a=rtcp-mux",
      "a=sendrecv",
      "",
    ]);
    expect(negotiation.offer()).toBe(offer);
  });

  test.each([
    ["off", "RTP/AVP", 0],
    ["optional", "RTP/AVP", 4],
    ["required", "RTP/SAVP", 4],
  ] as const)("with srtp %s is %s with %i keys", (srtp, protocol, keys) => {
    const media = parseSdp(negotiate({ srtp }).negotiation.offer())?.media[0];
    expect(media?.protocol).toBe(protocol);
    const lines = attributes(media!, "crypto").map(parseCrypto);
    expect(lines.map((line) => line?.tag)).toEqual([1, 2, 3, 4].slice(0, keys));
    expect(new Set(lines.map((line) => String(line?.keys.key))).size).toBe(keys);
  });
});

describe("an answer", () => {
  test("decides codec, payload types and addresses", () => {
    const { negotiation, agreements } = negotiate();
    negotiation.offer();
    expect(negotiation.takeAnswer(PLAIN, false)).toBeUndefined();
    expect(agreements).toEqual([
      {
        remote: { address: "192.0.2.9", port: 5000 },
        remoteRtcp: { address: "192.0.2.9", port: 5001 },
        rtcpMux: false,
        codec: "PCMU",
        payloadType: { send: 0, receive: 0 },
        telephoneEvent: { payloadType: 101, clockRate: 8000 },
        ptimeMs: 20,
        srtp: undefined,
        direction: "sendrecv",
      },
    ]);
  });

  test("may have a media address, a session direction, and other payload types", () => {
    const { negotiation, agreements } = negotiate({ codecs: ["opus"] });
    negotiation.offer();
    const text = answer(
      [
        "m=audio 5000 RTP/AVP 96 97 98",
        "c=IN IP4 198.51.100.7/127",
        "a=rtpmap:96 OPUS/48000/2",
        "a=rtpmap:97 telephone-event/8000",
        "a=rtpmap:98 telephone-event/48000",
        "a=rtcp:31047",
        "a=ptime:40",
        "a=x-unknown",
      ],
      ["c=IN IP4 192.0.2.9", "a=sendonly"],
    ).replaceAll("\r\n", "\n");
    expect(negotiation.takeAnswer(text, true)).toBeUndefined();
    expect(agreements[0]).toMatchObject({
      remote: { address: "198.51.100.7", port: 5000 },
      remoteRtcp: { address: "198.51.100.7", port: 31_047 },
      codec: "opus",
      payloadType: { send: 96, receive: 111 },
      telephoneEvent: { payloadType: 98, clockRate: 48_000 },
      ptimeMs: 40,
      direction: "recvonly",
    });
  });

  test("may choose G.722 by its payload type alone, with a clock of 8,000 Hz", () => {
    const { negotiation, agreements } = negotiate({ codecs: ["PCMU", "G722"] });
    expect(negotiation.offer()).toContain("\r\na=rtpmap:9 G722/8000\r\n");
    expect(negotiation.takeAnswer(answer(["m=audio 5000 RTP/AVP 9 101"]), false)).toBeUndefined();
    expect(agreements[0]).toMatchObject({ codec: "G722", payloadType: { send: 9, receive: 9 } });
  });

  test("with rtcp-mux has one port for both", () => {
    const { negotiation, agreements } = negotiate();
    negotiation.offer();
    negotiation.takeAnswer(`${PLAIN}a=rtcp-mux\r\n`, false);
    expect(agreements[0]).toMatchObject({ rtcpMux: true, remoteRtcp: { port: 5000 } });
  });

  test.each([
    ["no SDP", "<html>", /not SDP/],
    ["no audio", answer(["m=video 5000 RTP/AVP 96"]), /no audio/],
    ["port 0", answer(["m=audio 0 RTP/AVP 0"]), /rejects audio/],
    [
      "none of our codecs",
      answer(["m=audio 5000 RTP/AVP 18 9 101", "a=rtpmap:101 telephone-event/8000"]),
      /^no codec in common: we offer PCMU, PCMA, the peer accepts G729, G722;/,
    ],
    ["no address", answer(["m=audio 5000 RTP/AVP 0"], []), /c= line/],
    ["a corrupt address", answer(["m=audio 5000 RTP/AVP 0"], ["c=IN IP4 192.0.2.300"]), /"192.0.2.300"/],
    ["no name", answer(["m=audio 5000 RTP/AVP 0"], ["c=IN IP4 pbx..example"]), /"pbx..example"/],
    ["another family", answer(["m=audio 5000 RTP/AVP 0"], ["c=IN IP6 2001:db8::9"]), /cannot be reached/],
    ["DTLS", answer(["m=audio 5000 UDP/TLS/RTP/SAVPF 0"]), /UDP\/TLS\/RTP\/SAVPF/],
    ["encryption that we did not offer", answer(["m=audio 5000 RTP/SAVP 0"]), /srtp is off/],
  ])("with %s is refused with a reason", (_, text, sentence) => {
    const { negotiation, agreements } = negotiate();
    negotiation.offer();
    expect(negotiation.takeAnswer(text, false)).toMatch(sentence);
    expect(agreements).toEqual([]);
  });
});

describe("SDES keys", () => {
  const secureAnswer = (line: string, protocol = "RTP/SAVP"): string => answer([`m=audio 5000 ${protocol} 0`, line]);

  test("are the answer's key and our key with the same tag", () => {
    const { negotiation, agreements } = negotiate({ srtp: "required" });
    const offeredKeys = attributes(parseSdp(negotiation.offer())!.media[0]!, "crypto").map(parseCrypto);
    expect(negotiation.takeAnswer(secureAnswer(keyLine(2, "AES_CM_128_HMAC_SHA1_32")), false)).toBeUndefined();
    expect(agreements[0]?.srtp?.send).toEqual(offeredKeys[1]?.keys);
    expect(agreements[0]?.srtp?.receive.suite).toBe("AES_CM_128_HMAC_SHA1_32");
    expect(agreements[0]?.srtp?.receive.key).not.toEqual(offeredKeys[1]?.keys.key);
  });

  test("are the first acceptable ones of an answer with two", () => {
    const malformedLine = "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:dG9vIHNob3J0";
    const [firstLine, secondLine] = [keyLine(2, "AES_CM_128_HMAC_SHA1_32"), keyLine(1, "AES_CM_128_HMAC_SHA1_80")];
    const { negotiation, agreements } = negotiate({ srtp: "required" });
    const offeredKeys = attributes(parseSdp(negotiation.offer())!.media[0]!, "crypto").map(parseCrypto);
    const text = answer(["m=audio 5000 RTP/SAVP 0", malformedLine, firstLine, secondLine]);
    expect(negotiation.takeAnswer(text, false)).toBeUndefined();
    expect(agreements[0]?.srtp).toEqual({
      send: offeredKeys[1]?.keys,
      receive: parseCrypto(firstLine.slice("a=crypto:".length))?.keys,
    });
    expect(negotiation.takeAnswer(answer(["m=audio 5000 RTP/SAVP 0", malformedLine, malformedLine]), false)).toMatch(
      /is malformed/,
    );
  });

  test.each(["RTP/SAVP", "RTP/SAVPF"] as const)("are offered in %s, answered in either profile", (profile) => {
    for (const answerProfile of ["RTP/SAVP", "RTP/SAVPF"]) {
      const { negotiation, agreements } = negotiate({ srtp: "required", profile });
      const [media] = parseSdp(negotiation.offer())!.media;
      expect([media!.protocol, attributes(media!, "crypto").length]).toEqual([profile, 4]);
      const text = secureAnswer(keyLine(1, "AES_CM_128_HMAC_SHA1_80"), answerProfile);
      expect(negotiation.takeAnswer(text, false)).toBeUndefined();
      expect(agreements[0]?.srtp?.receive).toEqual(parseCrypto(attribute(parseSdp(text)!.media[0]!, "crypto")!)?.keys);
    }
  });

  test("are optional: an answer with a key encrypts the call, whatever its profile", () => {
    for (const [text, isEncrypted] of [
      [PLAIN, false],
      [secureAnswer(keyLine(1, "AES_CM_128_HMAC_SHA1_80")), true],
      [secureAnswer(keyLine(1, "AES_CM_128_HMAC_SHA1_80"), "RTP/AVP"), true],
    ] as const) {
      const { negotiation, agreements } = negotiate({ srtp: "optional" });
      negotiation.offer();
      expect(negotiation.takeAnswer(text, false)).toBeUndefined();
      expect(agreements[0]?.srtp !== undefined).toBe(isEncrypted);
    }
  });

  test.each([
    ["required", PLAIN, /does not encrypt/],
    ["optional", answer(["m=audio 5000 RTP/SAVP 0"]), /no key/],
    [
      "required",
      secureAnswer(keyLine(2, "AES_CM_128_HMAC_SHA1_80")),
      /for key 2, which is for AES_CM_128_HMAC_SHA1_32/,
    ],
    ["required", secureAnswer(keyLine(9, "AES_CM_128_HMAC_SHA1_80")), /only 4/],
    ["required", secureAnswer("a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:dG9vIHNob3J0"), /is malformed/],
  ] as const)("that do not fit (srtp: %s) are refused with a reason", (srtp, text, sentence) => {
    const { negotiation, agreements } = negotiate({ srtp });
    negotiation.offer();
    expect(negotiation.takeAnswer(text, false)).toMatch(sentence);
    expect(agreements).toEqual([]);
  });
});

describe("a re-offer from the peer", () => {
  function startCall(options: Partial<NegotiationOptions> = {}, text = PLAIN) {
    const call = negotiate(options);
    call.negotiation.offer();
    expect(call.negotiation.takeAnswer(text, false)).toBeUndefined();
    return call;
  }
  const version = (sdp: string | undefined): string | undefined => /o=- \d+ (\d+)/.exec(sdp ?? "")?.[1];

  test.each([
    ["sendonly", "recvonly"],
    ["inactive", "inactive"],
    ["recvonly", "sendonly"],
    ["sendrecv", "sendrecv"],
  ])("that is %s is answered %s", (offered, answered) => {
    const { negotiation, agreements } = startCall();
    const text = negotiation.answerOffer(`${PLAIN}a=${offered}\r\n`);
    expect(attribute(parseSdp(text!)!.media[0]!, answered)).toBe("");
    expect(agreements.at(-1)?.direction).toBe(answered);
  });

  test("with an address of zeros holds the call, and keeps the remote address", () => {
    const { negotiation, agreements } = startCall();
    const text = negotiation.answerOffer(answer(["m=audio 5000 RTP/AVP 0"], ["c=IN IP4 0.0.0.0"]));
    expect(text).toContain("a=recvonly");
    expect(agreements.at(-1)).toMatchObject({ direction: "recvonly", remote: { address: "192.0.2.9", port: 5000 } });
  });

  test("raises our description's version only on changes", () => {
    const { negotiation } = startCall();
    expect(version(negotiation.offer())).toBe("1");
    const first = negotiation.answerOffer(PLAIN);
    expect(version(first)).toBe("2");
    expect(negotiation.answerOffer(PLAIN)).toBe(first);
    expect(version(negotiation.answerOffer(`${PLAIN}a=sendonly\r\n`))).toBe("3");
    expect(version(negotiation.offer())).toBe("4");
    expect(version(negotiation.offer())).toBe("4");
  });

  test("does not narrow our next offer", () => {
    const { negotiation } = startCall({ codecs: ["opus", "PCMU"] });
    negotiation.answerOffer(answer(["m=video 7000 RTP/AVP 96", "m=audio 5000 RTP/AVP 0", "a=inactive"]));
    const media = parseSdp(negotiation.offer())!.media;
    expect(media.map(({ kind, port }) => [kind, port])).toEqual([
      ["video", 0],
      ["audio", 40_000],
    ]);
    expect(media[1]?.formats).toEqual(["111", "0", "101", "110"]);
    expect(attribute(media[1]!, "sendrecv")).toBe("");
  });

  test("keeps its payload types in our next offer, each with one meaning", () => {
    const { negotiation, agreements } = startCall({ codecs: ["PCMU", "opus"] });
    negotiation.answerOffer(
      answer(["m=audio 5000 RTP/AVP 101 111", "a=rtpmap:101 opus/48000/2", "a=rtpmap:111 telephone-event/48000"]),
    );
    const lines = attributes(parseSdp(negotiation.offer())!.media[0]!, "rtpmap");
    expect(lines).toEqual(["0 PCMU/8000", "101 opus/48000/2", "96 telephone-event/8000", "111 telephone-event/48000"]);
    negotiation.takeAnswer(answer(["m=audio 5000 RTP/AVP 101", "a=rtpmap:101 opus/48000/2"]), false);
    expect(agreements.at(-1)?.payloadType).toEqual({ send: 101, receive: 101 });
  });

  test("keeps the codec in use if listed, and moves the stream", () => {
    const { negotiation, agreements } = startCall();
    negotiation.answerOffer(answer(["m=audio 6000 RTP/AVP 8 0"], ["c=IN IP4 192.0.2.77"]));
    expect(agreements.at(-1)).toMatchObject({ codec: "PCMU", remote: { address: "192.0.2.77", port: 6000 } });
    const text = negotiation.answerOffer(answer(["m=audio 6000 RTP/AVP 8 18"]));
    expect(agreements.at(-1)).toMatchObject({
      codec: "PCMA",
      payloadType: { send: 8, receive: 8 },
      telephoneEvent: undefined,
    });
    expect(parseSdp(text!)?.media[0]?.formats).toEqual(["8"]);
  });

  test("with other media gets an answer for each, but only one is accepted", () => {
    const { negotiation } = startCall();
    const text = negotiation.answerOffer(
      answer(["m=video 7000 RTP/AVP 96", "m=audio 5000 RTP/AVP 0", "m=audio 5002 RTP/AVP 0", "m=image 7002 udptl t38"]),
    );
    expect(parseSdp(text!)?.media.map(({ kind, port }) => [kind, port])).toEqual([
      ["video", 0],
      ["audio", 40_000],
      ["audio", 0],
      ["image", 0],
    ]);
  });

  test("with new keys is answered with its tag", () => {
    const secureOffer = (line: string): string => answer(["m=audio 5000 RTP/SAVP 0", line]);
    const { negotiation, agreements } = startCall(
      { srtp: "required" },
      secureOffer(keyLine(1, "AES_CM_128_HMAC_SHA1_80")),
    );
    const text = negotiation.answerOffer(secureOffer(keyLine(5, "AES_CM_128_HMAC_SHA1_80")));
    const answerKey = parseCrypto(attribute(parseSdp(text!)!.media[0]!, "crypto")!);
    expect(answerKey?.tag).toBe(5);
    expect(agreements.at(-1)?.srtp?.send).toEqual(answerKey?.keys);
    expect(agreements.at(-1)?.srtp?.send).toEqual(agreements[0]?.srtp?.send);
  });

  test.each(["RTP/SAVP", "RTP/SAVPF"])("with keys and %s gets that profile, encrypted", (profile) => {
    const { negotiation, agreements } = startCall({ srtp: "optional" });
    const text = negotiation.answerOffer(
      answer([`m=audio 5000 ${profile} 0`, keyLine(1, "AES_CM_128_HMAC_SHA1_80"), "a=rtcp-fb:* nack"]),
    );
    const media = parseSdp(text!)!.media[0]!;
    expect(media.protocol).toBe(profile);
    expect(parseCrypto(attribute(media, "crypto")!)?.keys).toEqual(agreements.at(-1)?.srtp?.send);
    expect(parseSdp(negotiation.offer())?.media[0]?.protocol).toBe(profile);
  });

  test.each([
    ["none of our codecs", "off", answer(["m=audio 5000 RTP/AVP 18"])],
    ["no audio", "off", answer(["m=audio 0 RTP/AVP 0"])],
    ["encryption removed", "required", PLAIN],
    [
      "encryption that we do not support",
      "off",
      answer(["m=audio 5000 RTP/SAVP 0", keyLine(1, "AES_CM_128_HMAC_SHA1_80")]),
    ],
    ["no SDP", "off", "\u0000"],
  ] as const)("with %s is refused without effect", (_, srtp, text) => {
    const first = srtp === "off" ? PLAIN : answer(["m=audio 5000 RTP/SAVP 0", keyLine(1, "AES_CM_128_HMAC_SHA1_80")]);
    const { negotiation, agreements } = startCall({ srtp }, first);
    const offerBefore = negotiation.offer();
    expect(negotiation.answerOffer(text)).toBeUndefined();
    expect(negotiation.offer()).toBe(offerBefore);
    expect(agreements.length).toBe(1);
  });
});
