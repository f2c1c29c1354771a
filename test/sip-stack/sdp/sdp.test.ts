import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createNegotiation } from "../../../adapters/sip-stack/sdp/negotiation.ts";
import { attribute, parseSdp, writeSdp } from "../../../adapters/sip-stack/sdp/sdp.ts";
import { CODE_POINT, fuzz } from "../../support/fuzz.ts";
import { processorMs } from "../../support/processor-time.ts";

const LINES = [
  "v=0",
  "o=- 1 1 IN IP4 192.0.2.9",
  "s=-",
  "c=IN IP4 192.0.2.9",
  "t=0 0",
  "a=sendonly",
  "m=audio 5000 RTP/AVP 0 8 101",
  "m=audio 5000/2 RTP/SAVP 111",
  "m=video 0 RTP/AVP 96",
  "a=rtpmap:101 telephone-event/8000",
  "a=rtpmap:111 opus/48000/2",
  "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz",
  "a=rtcp:31047",
  "a=rtcp-mux",
  "a=ptime:30",
  "x=what is this",
];

const randomSdp = fc.oneof(
  fc.string({ maxLength: 300 }),
  fc.string({ unit: CODE_POINT, maxLength: 300 }),
  fc
    .array(fc.oneof(fc.constantFrom(...LINES), fc.string({ maxLength: 40 })), { maxLength: 40 })
    .chain((lines) => fc.constantFrom("\r\n", "\n", "\r", "\n\r", "").map((end) => lines.join(end))),
  fc.tuple(fc.constantFrom(...LINES), fc.nat(60), fc.string({ maxLength: 5 })).map(([line, at, middle]) => {
    return [...LINES.slice(0, 8), line.slice(0, at) + middle + line.slice(at)].join("\r\n");
  }),
);

describe("session descriptions", () => {
  test("are parsed with any line ends, unknown lines and stray spaces", () => {
    const sdp = parseSdp("v=0\ro=x\n\ns=-\r\nm=audio  49170/2  rtp/avp 0 8 \r\n a = sendrecv \nz=1\na=foo:bar:baz\n");
    expect(sdp?.media).toHaveLength(1);
    expect(sdp?.media[0]).toMatchObject({ kind: "audio", port: 49_170, protocol: "RTP/AVP", formats: ["0", "8"] });
    expect(attribute(sdp!.media[0]!, "foo")).toBe("bar:baz");
    expect(sdp?.media[0]?.lines).toContainEqual({ type: "z", value: "1" });
  });

  test("an unnamed medium is ignored with its lines", () => {
    const sdp = parseSdp("v=0\r\nm=audio 5000 RTP/AVP 0\r\na=ptime:20\r\nm=\r\na=inactive\r\n");
    expect(sdp?.media).toHaveLength(1);
    expect(sdp?.media[0]?.lines).toEqual([{ type: "a", value: "ptime:20" }]);
  });

  test("that are too long are refused", () => {
    expect(parseSdp("a=x\n".repeat(20_000))).toBeUndefined();
  });

  fuzz(
    "are parsed unchanged after being written",
    fc.property(randomSdp, (text) => {
      const sdp = parseSdp(text);
      if (sdp !== undefined) expect(parseSdp(writeSdp(sdp))).toEqual(sdp);
    }),
  );

  fuzz(
    "in any form are agreed on or refused with a reason",
    fc.property(randomSdp, randomSdp, fc.constantFrom("off", "optional", "required"), (first, second, srtp) => {
      let agreementCount = 0;
      const negotiation = createNegotiation({
        codecs: ["PCMU", "opus"],
        srtp,
        address: "192.0.2.1",
        port: 40_000,
        random: (bytes) => void bytes.fill(7),
        onNegotiated: ({ remote }) => {
          agreementCount++;
          expect(remote.port).toBeGreaterThan(0);
        },
      });
      negotiation.offer();
      const refusal = negotiation.takeAnswer(first, false);
      expect(agreementCount).toBe(refusal === undefined ? 1 : 0);
      const answer = negotiation.answerOffer(second);
      if (answer !== undefined) expect(parseSdp(answer)?.media.length).toBe(parseSdp(second)?.media.length);
    }),
  );

  test("are parsed in time proportional to their length", () => {
    const slowTexts = [
      `m=audio 1 RTP/AVP ${"0 ".repeat(30_000)}`,
      `a=rtcp:1${" ".repeat(60_000)}`,
      " ".repeat(65_000),
      `a=rtpmap:1 ${"x".repeat(60_000)}`,
    ];
    for (const text of slowTexts) {
      const negotiation = createNegotiation({
        codecs: ["PCMU"],
        srtp: "optional",
        address: "192.0.2.1",
        port: 2,
        random: () => {},
        onNegotiated: () => {},
      });
      const startMs = processorMs();
      negotiation.takeAnswer(`c=IN IP4 192.0.2.9\n${text}`, false);
      negotiation.answerOffer(`c=IN IP4 192.0.2.9\nm=audio 1 RTP/AVP 0\n${text}`);
      expect(processorMs() - startMs, text.slice(0, 20)).toBeLessThan(500);
    }
  });
});
