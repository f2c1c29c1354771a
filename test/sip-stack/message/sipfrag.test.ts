import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { reportedStatus } from "../../../adapters/sip-stack/message/body-part.ts";
import { fuzz } from "../../support/fuzz.ts";
import { processorMs } from "../../support/processor-time.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("a message/sipfrag body", () => {
  test.for([
    ["SIP/2.0 200 OK\r\n", 200, "OK"],
    ["SIP/2.0 100 Trying", 100, "Trying"],
    ["SIP/2.0 486 Busy Here\nTo: <sip:a@b>\n\n", 486, "Busy Here"],
    ["sip/2.0  603\tDecline", 603, "Decline"],
    ["SIP/2.0 503", 503, ""],
    ["SIP/2.0 603 Não\r\n", 603, "Não"],
  ] as const)("%j reports its status", ([text, status, reason]) => {
    expect(reportedStatus(bytes(text))).toEqual({ status, reason });
  });

  test.for([
    "",
    "\r\nSIP/2.0 200 OK",
    "INVITE sip:a@b SIP/2.0",
    "SIP/2.0 99 No",
    "SIP/2.0 700 No",
    "SIP/3.0 200 OK",
    "200",
  ])("%j reports no status", (text) => {
    expect(reportedStatus(bytes(text))).toBeUndefined();
  });

  test("a body without an end of line is read in linear time", () => {
    const body = bytes(`SIP/2.0 200 ${" ".repeat(5_000_000)}`);
    const startMs = processorMs();
    expect(reportedStatus(body)?.status).toBe(200);
    expect(processorMs() - startMs).toBeLessThan(50);
  });

  fuzz(
    "never makes the parser throw, and a report is a status of a line",
    fc.property(
      fc.oneof(
        fc.uint8Array({ maxLength: 600 }),
        fc
          .tuple(fc.constantFrom("SIP/2.0 ", "SIP/2.0 200 ", ""), fc.string({ maxLength: 600 }))
          .map(([a, b]) => bytes(a + b)),
      ),
      (body) => {
        const report = reportedStatus(body);
        if (report === undefined) return;
        expect(report.status).toBeGreaterThanOrEqual(100);
        expect(report.status).toBeLessThan(700);
        expect(report.reason).not.toMatch(/[\r\n]/);
        expect(report.reason.length).toBeLessThanOrEqual(500);
      },
    ),
  );
});
