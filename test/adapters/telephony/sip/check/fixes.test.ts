import { describe, expect, test } from "vitest";
import type { InviteEnd } from "../../../../../adapters/sip-stack/dialog/invite.ts";
import { SipHeaders } from "../../../../../adapters/sip-stack/message/headers.ts";
import { callFix, credentialsFix } from "../../../../../adapters/telephony/sip/check/fixes.ts";

describe("the fix for refused credentials", () => {
  test.each([
    [401, "weaker_algorithm", "weaker algorithm"],
    [407, "other_realm", "`realms`"],
    [401, "wrong_password", "`password`"],
    [403, undefined, "forbids it"],
    [501, undefined, "leave out `register`"],
    [undefined, undefined, "operator"],
  ] as const)("for status %s and code %s names %s", (status, code, fix) => {
    expect(credentialsFix(status, code)).toContain(fix);
  });
});

describe("the fix for a failed call", () => {
  const detail = "SIP 404 `realms` mediaFrom No codec in common";
  test.each<[name: string, end: InviteEnd | undefined, fix: string]>([
    ["an unacceptable answer", { type: "media", detail, isUnacceptable: true }, "`codecs`"],
    ["an expired session timer", { type: "media", detail }, "`trace`"],
    ["an unreachable trunk", { type: "unreachable", detail }, "`trace`"],
    ["no end", undefined, "`trace`"],
    ["a refused offer", rejectedInvite(488), "`codecs`"],
    ["a forbidden call", rejectedInvite(403), "`callerId`"],
    ["an unknown number", rejectedInvite(404), "`numberFormat`"],
    ["a busy callee", rejectedInvite(486), "call a number that answers"],
    ["a server error", rejectedInvite(500), "`trace`"],
    ["a wrong realm", { ...rejectedInvite(407), refusal: { code: "other_realm", detail } }, "`realms`"],
  ])("after %s comes from its status and code", (_, end, fix) => {
    expect(callFix(end)).toContain(fix);
  });
});

function rejectedInvite(status: number): Extract<InviteEnd, { type: "rejected" }> {
  const headers = new SipHeaders();
  const response = { kind: "response", status, reason: "", headers, body: new Uint8Array(0) } as const;
  return { type: "rejected", response, hasRung: false, hasProgressed: false };
}
