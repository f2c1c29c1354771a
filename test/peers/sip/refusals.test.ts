import { expect, test } from "vitest";
import type { ReleaseCause } from "../../../src/ports/telephony.ts";
import { withTools } from "../tools.ts";
import { openTrunk } from "./caller.ts";
import { startSipp } from "./sipp.ts";
import { ack, expectInvite, respond, ringing } from "./sipp-script.ts";
import { Stage } from "./stage.ts";

/** Responses of a sipp callee, and the outcome of the call. */
const REFUSALS: readonly {
  readonly status: string;
  readonly rings?: boolean;
  readonly fields?: string;
  readonly cause: ReleaseCause;
  /** Additional text of the detail. */
  readonly detail?: RegExp;
}[] = [
  {
    status: "486 Busy Here",
    rings: true,
    fields: 'Reason: Q.850;cause=17;text="User busy"',
    cause: "busy",
    detail: /Q\.850 17/,
  },
  { status: "600 Busy Everywhere", cause: "busy" },
  { status: "603 Decline", rings: true, cause: "declined" },
  { status: "404 Not Found", cause: "number_invalid" },
  { status: "484 Address Incomplete", cause: "number_invalid" },
  { status: "604 Does Not Exist Anywhere", cause: "number_invalid" },
  { status: "408 Request Timeout", rings: true, cause: "no_answer" },
  { status: "480 Temporarily Unavailable", rings: true, cause: "no_answer" },
  { status: "480 Temporarily Unavailable", cause: "unreachable" },
  { status: "503 Service Unavailable", fields: "Retry-After: 120", cause: "unreachable" },
  { status: "500 Server Internal Error", fields: "Reason: Q.850;cause=41", cause: "unreachable", detail: /41/ },
  { status: "403 Forbidden", cause: "rejected_by_network", detail: /account/ },
  { status: "488 Not Acceptable Here", cause: "rejected_by_network", detail: /codecs/ },
  {
    status: "302 Moved Temporarily",
    fields: "Contact: <sip:other@127.0.0.1:9>",
    cause: "rejected_by_network",
    detail: /followRedirects/,
  },
];

withTools("a refused call", ["sipp"], () => {
  const stage = new Stage();
  for (const [i, { status, rings = false, fields = "", cause, detail }] of REFUSALS.entries())
    test.concurrent(`with ${status}${rings ? " after it rang" : ""} ends with ${cause}, and the ACK is sent`, async () => {
      const steps = [expectInvite(), rings ? ringing : "", respond(status, { fields, repeated: true }), ack];
      const callee = await startSipp(stage, status, steps.join(""));
      const { dial } = await openTrunk(stage, { server: callee.uri }, `refused-${i}`);
      const { events } = await dial();
      const endEvent = await events.next("ended", 10_000);
      await callee.done;
      expect(endEvent.cause).toBe(cause);
      expect(endEvent.detail).toContain(`SIP ${status}`);
      if (detail) expect(endEvent.detail).toMatch(detail);
      const alerting = rings ? ["alerting"] : [];
      expect(events.types).toEqual(["placed", ...alerting, "ended"]);
    });
});
