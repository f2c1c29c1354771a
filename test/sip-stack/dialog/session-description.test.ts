import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { digitOf } from "../../../adapters/sip-stack/dialog/dtmf-relay.ts";
import { putsOnHold, sdpOf } from "../../../adapters/sip-stack/dialog/session-description.ts";
import { SipHeaders } from "../../../adapters/sip-stack/message/headers.ts";
import { type SipRequest, sipRequest } from "../../../adapters/sip-stack/message/sip-message.ts";
import { fuzz } from "../../support/fuzz.ts";

function message(type: string, body: string | Uint8Array): SipRequest {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  return sipRequest("INFO", "sip:x", new SipHeaders().add("Content-Type", type), bytes);
}

const audio = (...lines: string[]): string =>
  ["v=0", "c=IN IP4 192.0.2.1", "m=audio 4000 RTP/AVP 0", ...lines].join("\r\n");

describe("the session description", () => {
  test("signals hold by its audio's direction alone", () => {
    expect(putsOnHold(audio("a=sendrecv"))).toBe(false);
    expect(putsOnHold(audio())).toBe(false);
    expect(putsOnHold(audio("a=sendonly"))).toBe(true);
    expect(putsOnHold(audio("a=inactive "))).toBe(true);
    expect(putsOnHold(audio("a=recvonly"))).toBe(false);
    expect(putsOnHold(`v=0\na=sendonly\nm=audio 1 RTP/AVP 0\na=sendrecv`)).toBe(false);
    expect(putsOnHold(`v=0\na=sendonly\nm=audio 1 RTP/AVP 0`)).toBe(true);
    expect(putsOnHold(audio("a=sendrecv", "m=video 9 RTP/AVP 96", "a=inactive"))).toBe(false);
    expect(putsOnHold(`v=0\nm=video 9 RTP/AVP 96\na=inactive\nm=audio 1 RTP/AVP 0\na=sendrecv`)).toBe(false);
    expect(putsOnHold(`v=0\nm=video 9 RTP/AVP 96\na=sendrecv\nm=audio 1 RTP/AVP 0\na=sendonly`)).toBe(true);
    expect(putsOnHold("v=0\nm=audio 1 RTP/AVP 0\nc=IN IP4 0.0.0.0")).toBe(true);
    expect(putsOnHold("v=0\nm=audio 1 RTP/AVP 0\nc=IN IP6 ::")).toBe(true);
  });

  test("is found next to ISUP only in a multipart body", () => {
    const parts = `--b\r\nContent-Type: application/isup\r\n\r\nxx\r\n--b\r\nContent-Type: application/sdp\r\n\r\nv=0\r\n--b--\r\n`;
    expect(sdpOf(message("multipart/mixed;boundary=b", parts))).toContain("v=0");
    expect(sdpOf(message("application/isup", "v=0"))).toBeUndefined();
    expect(sdpOf(message("application/sdp", ""))).toBeUndefined();
  });

  fuzz(
    "hostile bodies never throw",
    fc.property(fc.uint8Array({ maxLength: 400 }), fc.string(), (bytes, type) => {
      for (const contentType of [
        type,
        "application/sdp",
        "multipart/mixed;boundary=-",
        "application/dtmf-relay",
        "application/dtmf",
      ]) {
        const sdp = sdpOf(message(contentType, bytes));
        if (sdp !== undefined) putsOnHold(sdp);
        digitOf(message(contentType, bytes));
      }
    }),
  );
});
