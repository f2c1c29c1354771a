import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SipHeaders } from "../../../../adapters/sip-stack/message/headers.ts";
import type { SipResponse } from "../../../../adapters/sip-stack/message/sip-message.ts";
import { sipRelease } from "../../../../adapters/telephony/sip/outcome/release-of.ts";
import { CODE_POINT, fuzz } from "../../../support/fuzz.ts";

function response(status: number, reason: string, fields: Readonly<Record<string, string>> = {}): SipResponse {
  const headers = new SipHeaders();
  for (const [name, value] of Object.entries(fields)) headers.add(name, value);
  return { kind: "response", status, reason, headers, body: new Uint8Array(0) };
}

const releaseOf = (
  status: number,
  { hasRung = false, q850, phrase = "Phrase" }: { hasRung?: boolean; q850?: number; phrase?: string } = {},
) =>
  sipRelease({
    type: "rejected",
    response: response(status, phrase, q850 === undefined ? {} : { Reason: `Q.850;cause=${q850};text="why"` }),
    hasRung,
    hasProgressed: hasRung,
  });

describe("the release of a refused call", () => {
  test.each([
    [486, "busy"],
    [600, "busy"],
    [603, "declined"],
    [404, "number_invalid"],
    [484, "number_invalid"],
    [604, "number_invalid"],
    [408, "unreachable"],
    [480, "unreachable"],
    [503, "unreachable"],
    [302, "rejected_by_network"],
    [400, "rejected_by_network"],
    [401, "rejected_by_network"],
    [403, "rejected_by_network"],
    [407, "rejected_by_network"],
    [488, "rejected_by_network"],
    [500, "rejected_by_network"],
    [699, "rejected_by_network"],
  ])("%i is %s", (status, cause) => {
    expect(releaseOf(status).cause).toBe(cause);
  });

  test.each([408, 480])("%i after ringing is no_answer", (status) => {
    expect(releaseOf(status, { hasRung: true }).cause).toBe("no_answer");
  });

  test("408 after ringing takes precedence over a Q.850 cause", () => {
    expect(releaseOf(408, { hasRung: true, q850: 34 }).cause).toBe("no_answer");
  });

  test.each([
    [480, 17, "busy"],
    [480, 19, "no_answer"],
    [480, 18, "no_answer"],
    [408, 18, "no_answer"],
    [408, 19, "no_answer"],
    [408, 34, "unreachable"],
    [500, 34, "unreachable"],
    [500, 1, "number_invalid"],
    [502, 28, "number_invalid"],
    [403, 21, "declined"],
    [480, 16, "unreachable"], // sends no further messages
    [500, 31, "rejected_by_network"],
  ])("%i with Q.850 cause %i is %s", (status, q850, cause) => {
    expect(releaseOf(status, { q850 }).cause).toBe(cause);
  });

  test.each([
    [486, 21, "busy"],
    [603, 17, "declined"],
    [404, 17, "number_invalid"],
    [503, 17, "unreachable"],
  ])("%i takes precedence over Q.850 cause %i", (status, q850, cause) => {
    expect(releaseOf(status, { q850 }).cause).toBe(cause);
  });

  test("has the raw cause as its detail", () => {
    expect(releaseOf(486, { q850: 17, phrase: "Busy Here" }).detail).toBe("SIP 486 Busy Here (Q.850 17)");
    expect(
      sipRelease({
        type: "rejected",
        response: response(500, "", {
          Reason: 'SIP;cause=200;text="Call completed elsewhere"',
          Warning: '399 host "odd"',
        }),
        hasRung: false,
        hasProgressed: false,
      }).detail,
    ).toBe('SIP 500 (SIP 200 "Call completed elsewhere") (odd)');
  });

  test("has the fix after the raw cause", () => {
    expect(releaseOf(407).detail).toMatch(/^SIP 407 Phrase: .*password/);
    expect(
      sipRelease({
        type: "rejected",
        response: response(302, "Moved", { Contact: "<sip:a@b>" }),
        hasRung: false,
        hasProgressed: false,
      }).detail,
    ).toBe("SIP 302 Moved: the trunk redirects the call to <sip:a@b>; set `followRedirects` to follow it");
  });

  test("has Retry-After only for 503, up to an hour", () => {
    const retryAfterOf = (status: number, value: string) =>
      sipRelease({
        type: "rejected",
        response: response(status, "", { "Retry-After": value }),
        hasRung: false,
        hasProgressed: false,
      }).retryAfterMs;
    expect(retryAfterOf(503, "120 (I'm in a meeting);duration=3600")).toBe(120_000);
    expect(retryAfterOf(503, "99999999")).toBe(3_600_000);
    expect(retryAfterOf(503, "soon")).toBeUndefined();
    expect(retryAfterOf(486, "120")).toBeUndefined();
  });

  test("has the peer's text on one line, truncated", () => {
    const { detail } = releaseOf(500, { phrase: `a\r\nb${"x".repeat(10_000)}` });
    expect(detail).toMatch(/^SIP 500 a b/);
    expect(detail!.length).toBeLessThan(300);
  });
});

describe("the release by either side", () => {
  test("is callee_hung_up after a BYE", () => {
    expect(sipRelease({ type: "bye", reason: 'Q.850;cause=16;text="Normal"' })).toEqual({
      cause: "callee_hung_up",
      detail: "SIP BYE (Q.850 16)",
    });
    expect(sipRelease({ type: "bye", reason: undefined }).detail).toBe("SIP BYE");
  });

  test("has no detail after our own hang-up", () => {
    expect(sipRelease({ type: "released" })).toEqual({ cause: "released", detail: null });
  });

  test.each([
    ["unreachable", "unreachable"],
    ["media", "media_failed"],
    ["protocol", "rejected_by_network"],
  ] as const)("%s is %s", (type, cause) => {
    expect(sipRelease({ type, detail: "why" })).toEqual({ cause, detail: "why" });
  });
});

describe("a refusal by WhatsApp", () => {
  const releaseByWhatsApp = (status: number, phrase: string) =>
    sipRelease(
      { type: "rejected", response: response(status, phrase), hasRung: false, hasProgressed: false },
      { whatsApp: true },
    );

  test.each([
    [403, "No Approved Call Permission", "no_call_permission"],
    [403, "SIP server sip.example.com does not match the configured one", "hostname_mismatch"],
    [400, "Asset not found", "number_not_registered"],
    [403, "Duplicate call", "duplicate_call"],
    [403, "Proxy auth uri does not match SIP to uri", "uri_mismatch"],
  ])("%i %s is %s", (status, phrase, code) => {
    const { cause, detail } = releaseByWhatsApp(status, phrase);
    expect(cause).toBe("rejected_by_network");
    expect(detail).toMatch(new RegExp(`^${code}: SIP ${status} ${phrase}: `));
  });

  test("is recognised on WhatsApp trunks only", () => {
    expect(releaseOf(403, { phrase: "No Approved Call Permission" }).detail).toMatch(/^SIP 403/);
    expect(releaseByWhatsApp(486, "Busy Here").detail).toBe("SIP 486 Busy Here");
  });
});

describe("any response from a peer", () => {
  fuzz(
    "is handled without throwing",
    fc.property(fc.string({ unit: CODE_POINT }), (text) => {
      sipRelease({ type: "bye", reason: `Q.850;${text}` });
      sipRelease(
        {
          type: "rejected",
          response: response(403, text, { Reason: text, Warning: text, "Retry-After": text }),
          hasRung: true,
          hasProgressed: true,
        },
        { whatsApp: true },
      );
    }),
  );
});
