import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SipHeaders } from "../../../../adapters/sip-stack/message/headers.ts";
import { sipRelease } from "../../../../adapters/telephony/sip/outcome/release-of.ts";
import { CODE_POINT, fuzz } from "../../../support/fuzz.ts";

type Fields = readonly (readonly [name: string, value: string])[];

/** The release of a call that was refused with this status line and these fields. */
function releaseOf(line: string, fields: Fields = [], hasRung = false) {
  const [status = "", ...phrase] = line.split(" ");
  const headers = new SipHeaders();
  for (const [name, value] of fields) headers.add(name, value);
  const response = { kind: "response", status: Number(status), reason: phrase.join(" "), headers } as const;
  return sipRelease({
    type: "rejected",
    response: { ...response, body: new Uint8Array(0) },
    hasRung,
    hasProgressed: hasRung,
  });
}

const ANALYTICS =
  'SIP;cause=603;text="v=analytics1;url=https://redress.example/b?n=1;tel=+18005550100;email=help@redress.example;id=4711"';

describe("a person who declines", () => {
  test.each<[string, Fields]>([
    ["603 Decline", []],
    ["603 Declined", []],
    ["603 Declined by user", []],
    ["603 Blocked by the callee", []],
    ["603 Call Rejected", []],
    ["603 Decline", [["Reason", "Q.850;cause=21"]]],
    ["603 Decline", [["Reason", 'Q.850;cause=21;text="Call rejected";location=U']]],
    ["603 Decline", [["Reason", "Q.850;cause=16;location=user"]]],
    ["603 Decline", [["Reason", 'SIP;cause=603;text="Declined"']]],
    ["603 Decline", [["Reason", 'RELEASE_CAUSE;cause=1;text="User ends call"']]],
    ["480 Temporarily Unavailable", [["Reason", "Q.850;cause=21"]]],
    [
      "603 Decline",
      [
        ["X-Asterisk-HangupCause", "Call Rejected"],
        ["X-Asterisk-HangupCauseCode", "21"],
      ],
    ],
    ["603 Decline", [["X-Error-Code", "0"]]],
    ["603 Decline", [["X-Codec", "blocked"]]],
    ["603 Decline", [["X-Hangup-Reason", "CALL_REJECTED"]]],
    ["603 Decline", [["X-Reason", "callee declined"]]],
  ])("%s %j is declined", (line, fields) => {
    expect(releaseOf(line, fields).cause).toBe("declined");
  });
});

describe("a network that refuses", () => {
  test.each<[string, Fields]>([
    ["603 Network Blocked", []],
    ["603 NETWORK_BLOCKED", []],
    ["603 Blocked", []],
    ["603 Spam", []],
    ["603 Decline", [["Reason", 'SIP;cause=603;text="Network Blocked"']]],
    ["603 Decline", [["Reason", ANALYTICS]]],
    ["603 Decline", [["Reason", "SIP;cause=603;text=v=analytics1;url=https://redress.example/b"]]],
    ["486 Busy Here", [["Reason", ANALYTICS]]],
    ["480 Temporarily Unavailable", [["Reason", ANALYTICS]]],
    ["404 Not Found", [["Reason", ANALYTICS]]],
    ["603 Decline", [["Reason", "SIP;cause=608"]]],
    ["603 Decline", [["Reason", "SIP;cause=607"]]],
    ["603 Decline", [["Reason", 'STIR;cause=438;text="Invalid Identity Header"']]],
    ["603 Decline", [["Reason", "Q.850;cause=21;location=RLN"]]],
    ["603 Decline", [["Reason", "Q.850;cause=21;location=LN"]]],
    ["603 Decline", [["Reason", "Q.850;cause=21;location=TN"]]],
    ["603 Decline", [["Reason", "Q.850;cause=21;location=BI"]]],
    ["603 Decline", [["Reason", "Q.850;cause=21;location=RPN"]]],
    ["480 Temporarily Unavailable", [["Reason", "Q.850;cause=21;location=TN"]]],
    ["403 Forbidden", [["Reason", "Q.850;cause=21;location=LN"]]],
    ["603 Decline", [["Reason", "Q.850;cause=34"]]],
    ["603 Decline", [["Reason", "Q.850;cause=57"]]],
    ["603 Decline", [["Warning", '399 sbc.example "Blocked by carrier policy"']]],
    ["603 Decline", [["X-Twilio-Error", "32017 PSTN: call blocked"]]],
    ["603 Decline", [["X-Telnyx-Error-Code", "D51"]]],
    ["603 Decline", [["X-Carrier-Block-Reason", "score 97"]]],
    ["603 Decline", [["X-Provider-Reason", "4012"]]],
    ["607 Unwanted", []],
    ["607 Unwanted", [["Reason", "Q.850;cause=21;location=U"]]],
    ["608 Rejected", [["Reason", "Q.850;cause=21"]]],
    ["428 Use Identity Header", []],
    ["436 Bad Identity Info", []],
    ["437 Unsupported Credential", []],
    ["438 Invalid Identity Header", [["Reason", "Q.850;cause=21"]]],
    ["403 Stale Date", [["Reason", "Q.850;cause=21"]]],
  ])("%s %j is rejected_by_network", (line, fields) => {
    expect(releaseOf(line, fields)).toMatchObject({
      cause: "rejected_by_network",
      detail: expect.stringMatching(new RegExp(`^SIP ${line.slice(0, 3)} .+: .+`)),
    });
  });

  test("leaves a status's other outcomes unchanged", () => {
    expect(releaseOf("486 Busy Here", [["Reason", "Q.850;cause=17;location=RLN"]]).cause).toBe("busy");
    expect(releaseOf("486 Busy Here", [["X-Twilio-Error", "32017"]]).cause).toBe("busy");
    expect(releaseOf("404 Not Found", [["X-Provider-Reason", "blocked"]]).cause).toBe("number_invalid");
    expect(releaseOf("480 Gone", [["Reason", "Q.850;cause=19;location=LN"]], true).cause).toBe("no_answer");
    expect(releaseOf("603 Decline", [["Reason", "Q.850;cause=1"]]).cause).toBe("number_invalid");
  });
});

describe("the detail of a refusal", () => {
  test("has the addresses of an analytics service", () => {
    expect(releaseOf("603 Network Blocked", [["Reason", ANALYTICS]]).detail).toBe(
      'SIP 603 Network Blocked (SIP 603 "v=analytics1"): an analytics service of the network blocked the call; ' +
        "ask the provider why, register the number with the analytics services of the carriers, and call only people who expect it; " +
        "object at https://redress.example/b?n=1, tel +18005550100, email help@redress.example, id 4711",
    );
  });

  test("has the card of a 608", () => {
    const card: Fields = [["Call-Info", "<https://block.example/card/7f3>;purpose=jwscard"]];
    expect(releaseOf("608 Rejected", card).detail).toMatch(
      /^SIP 608 Rejected: .*blocked the call; .*; object at https:\/\/block\.example\/card\/7f3$/,
    );
  });

  test("has the provider's fields, at most three and bounded, whatever the status", () => {
    const fields: Fields = Array.from({ length: 20 }, (_, i) => [`X-Error-${i}`, "e".repeat(5_000)] as const);
    const { detail } = releaseOf("503 Service Unavailable", [["X-Twilio-Error", "32011 no route"], ...fields]);
    expect(detail).toMatch(
      /^SIP 503 Service Unavailable \(X-Twilio-Error: 32011 no route\) \(X-Error-0: e+…?\) \(X-Error-1: e+…?\): /,
    );
    expect(detail!.length).toBeLessThan(1_000);
  });

  test("has an Error-Info's URI, and a Q.850 cause's location", () => {
    const { detail } = releaseOf("603 Decline", [
      ["Reason", "Q.850;cause=21;location=TN"],
      ["Error-Info", "<https://provider.example/errors/603>"],
    ]);
    expect(detail).toMatch(/^SIP 603 Decline \(Q\.850 21 TN\): the network refused the call \(location TN\); /);
    expect(detail).toMatch(/; object at https:\/\/provider\.example\/errors\/603$/);
  });
});

describe("a BYE before an answer", () => {
  test.each([
    [undefined, "media_failed"],
    ["Q.850;cause=21;location=TN", "rejected_by_network"],
    ["Q.850;cause=17", "busy"],
  ])("with %s is %s, never declined", (reason, cause) => {
    expect(sipRelease({ type: "bye", reason }, {}, false).cause).toBe(cause);
  });
});

describe("a hostile peer's fields", () => {
  const text = fc.string({ unit: CODE_POINT, maxLength: 3_000 });

  fuzz(
    "result in a bounded, one-line detail",
    fc.property(fc.constantFrom(403, 480, 486, 603, 608), text, text, (status, phrase, value) => {
      const names = ["Reason", "Call-Info", "Error-Info", "Warning", "X-Error", `X-${value.slice(0, 40)}-Reason`];
      const { detail } = releaseOf(
        `${status} ${phrase}`,
        names.flatMap((name) => [
          [name, value],
          [name, `SIP;cause=603;text="v=analytics1;url=${value}"`],
        ]),
      );
      expect(detail!.length).toBeLessThan(3_000);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not pass
      expect(detail).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
    }),
  );

  test("end a call however long they are", () => {
    const longText = `${"busy ".repeat(50_000)}!`;
    for (const name of ["Reason", "Warning", "X-Error", "X-Error-Reason"])
      expect(releaseOf(`603 ${longText}`, [[name, longText]]).detail!.length).toBeLessThan(2_000);
  });
});
