import { describe, expect, test } from "vitest";
import type { Trunk } from "../../../../adapters/telephony/sip/config/trunk-config.ts";
import type { Script } from "../../../support/sip/far-end.ts";
import { Scene } from "./scene.ts";

const NUMBER = "+12025550100";

const sdpOf = (...media: string[]): string =>
  ["v=0", "o=far 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0", ...media, ""].join("\r\n");

const G729 = sdpOf("m=audio 5000 RTP/AVP 18 101", "a=rtpmap:101 telephone-event/8000");
const OPUS = sdpOf("m=audio 5000 RTP/AVP 96", "a=rtpmap:96 opus/48000/2");
const FINGERPRINT = "a=fingerprint:sha-256 00:11:22";
const WEBRTC = sdpOf("m=audio 5000 UDP/TLS/RTP/SAVPF 0", FINGERPRINT, "a=ice-ufrag:abcd", "a=setup:active");
const OLD_WEBRTC = sdpOf(FINGERPRINT, "m=audio 5000 RTP/SAVPF 0");
const SECURE_SDP = sdpOf("m=audio 5000 RTP/SAVP 0");

/** The end of a call to this callee. */
async function endOf(
  callee: Script,
  trunk: Partial<Trunk> = {},
): Promise<readonly [cause: string, detail: string | null]> {
  const scene = await Scene.open(trunk, { callees: { "*": callee } });
  return await scene.endOf(NUMBER);
}

describe("the detail of an unacceptable answer", () => {
  test.each<[title: string, description: string, trunk: Partial<Trunk>, detail: string]>([
    [
      "a codec that we do not support",
      G729,
      {},
      "no codec in common: we offer PCMU, PCMA, the peer accepts G729; the trunk must convert (transcode) between them",
    ],
    [
      "a codec that the trunk does not offer",
      OPUS,
      { codecs: ["PCMA"] },
      "no codec in common: we offer PCMA, the peer accepts opus; add opus to `codecs`",
    ],
    [
      "DTLS and ICE",
      WEBRTC,
      {},
      "the peer wants DTLS and ICE (UDP/TLS/RTP/SAVPF), as browsers do; we support plain RTP and SDES-SRTP: configure the peer for one of them, without ICE",
    ],
    [
      "DTLS by its fingerprint",
      OLD_WEBRTC,
      { srtp: "optional" },
      "the peer wants DTLS (a=fingerprint), as browsers do; we support plain RTP and SDES-SRTP: configure the peer for one of them, without ICE",
    ],
    ["encryption", SECURE_SDP, {}, "the peer wants RTP/SAVP, but srtp is off; set `srtp` to optional or required"],
  ])("names the requirement and the fix: %s", async (_, description, trunk, detail) => {
    expect(await endOf({ description }, trunk)).toEqual(["media_failed", detail]);
  });
});

describe("the detail of a refused offer", () => {
  const refusingCallee = (overrides: Partial<Script> = {}): Script => ({
    rings: [],
    status: 488,
    reason: "Not Acceptable Here",
    ...overrides,
  });
  const calleeWithWarning = (warning: string): Script => refusingCallee({ fields: [["Warning", warning]] });
  const GENERAL_DETAIL =
    "the peer accepts none of our codecs (PCMU, PCMA), or not our `srtp` (off), or requires DTLS; check `codecs` and `srtp`";

  test.each<[title: string, callee: Script, detail: string]>([
    [
      "by the codecs of its description",
      refusingCallee({ description: G729 }),
      ": no codec in common: we offer PCMU, PCMA, the peer accepts G729; the trunk must convert (transcode) between them",
    ],
    [
      "by the profile of its description",
      refusingCallee({ description: WEBRTC, status: 606 }),
      "UDP/TLS/RTP/SAVPF), as browsers do",
    ],
    [
      "by the encryption of its description",
      refusingCallee({ description: SECURE_SDP }),
      ": the peer wants RTP/SAVP, but srtp is off;",
    ],
    [
      "by Warning 304",
      calleeWithWarning('304 far.end "Media type not available"'),
      " (Media type not available): the peer accepts none of our codecs (PCMU, PCMA); check `codecs`",
    ],
    [
      "by Warning 305",
      calleeWithWarning('399 far.end "Sorry", 305 far.end "Incompatible media format"'),
      ": the peer accepts none of our codecs (PCMU, PCMA); check `codecs`",
    ],
    [
      "by Warning 302",
      calleeWithWarning('302 far.end "Incompatible transport protocol"'),
      ": the peer wants another profile; check `srtp` (off), and that the peer does not require DTLS",
    ],
    [
      "by Warning 301",
      calleeWithWarning('301 far.end "Incompatible network address formats"'),
      ": the peer requires the other IP version (IPv4 or IPv6)",
    ],
    [
      "by what we have offered, if there is no other hint",
      refusingCallee(),
      `SIP 488 Not Acceptable Here: ${GENERAL_DETAIL}`,
    ],
    [
      "by what we have offered, if a description has what we offer",
      refusingCallee({ description: sdpOf("m=audio 5000 RTP/AVP 0") }),
      GENERAL_DETAIL,
    ],
  ])("names the requirement and the fix: %s", async (_, callee, detail) => {
    expect(await endOf(callee)).toEqual(["rejected_by_network", expect.stringContaining(detail)]);
  });
});
