import * as fc from "fast-check";
import { describe, expect } from "vitest";
import { DigestClient } from "../../../adapters/sip-stack/auth/digest.ts";
import { createUserAgent } from "../../../adapters/sip-stack/dialog/user-agent.ts";
import { TransportError } from "../../../adapters/sip-stack/transport/transport.ts";
import { silentLogger } from "../../../src/ports/logger.ts";
import { fuzz } from "../../support/fuzz.ts";
import { RecordingNegotiator, sdp } from "./support/scripted-call.ts";
import { ScriptedTransactions } from "./support/scripted-transactions.ts";
import { SteppedSystem } from "./support/stepped-system.ts";

type Field = readonly [name: string, value: string];

const tag = fc.constantFrom(undefined, "a", "b", "c");
const fields = fc.array(
  fc.oneof(
    fc.constantFrom<Field>(
      ["Require", "100rel"],
      ["Require", "nonsense"],
      ["RSeq", "1"],
      ["RSeq", "2"],
      ["Contact", "<sip:x@192.0.2.9>"],
      ["Contact", "<sip:y@10.0.0.9>;q=0.1, <sip:z@192.0.2.8>"],
      ["Record-Route", "<sip:r.example.com;lr>, <sip:strict.example.com>"],
      ["Session-Expires", "90;refresher=uac"],
      ["Session-Expires", "90;refresher=uas"],
      ["Min-SE", "900"],
      ["Supported", "timer"],
      ["Allow", "UPDATE, INVITE"],
      ["Unsupported", "timer"],
      ["WWW-Authenticate", 'Digest realm="r", nonce="n", qop="auth"'],
      ["Content-Type", "application/sdp"],
    ),
    fc.tuple(
      fc.constantFrom("Contact", "Record-Route", "RSeq", "Session-Expires", "Content-Type", "Reason"),
      fc.string(),
    ),
  ),
  { maxLength: 4 },
);
const body = fc.constantFrom(undefined, sdp(), sdp("sendonly"), "nonsense");
const pick = fc.nat({ max: 40 });
const step = fc.oneof(
  fc.record({
    does: fc.constant("respond" as const),
    ...{ pick, tag, fields, body },
    status: fc.oneof(
      fc.constantFrom(100, 180, 183, 199, 200, 200, 200, 302, 401, 407, 408, 420, 421, 422, 481, 486, 491, 500, 603),
      fc.integer({ min: 101, max: 699 }),
    ),
  }),
  fc.record({
    does: fc.constant("request" as const),
    ...{ tag, fields, body, cseq: fc.integer({ min: 0, max: 9 }) },
    method: fc.constantFrom(
      "INVITE",
      "UPDATE",
      "ACK",
      "BYE",
      "INFO",
      "OPTIONS",
      "REFER",
      "NOTIFY",
      "PRACK",
      "CANCEL",
      "X",
    ),
  }),
  fc.record({ does: fc.constant("answer late" as const), pick, tag, fields, body }),
  fc.record({ does: fc.constant("fail" as const), pick }),
  fc.record({ does: fc.constant("hangUp" as const) }),
  fc.record({ does: fc.constant("press" as const) }),
  fc.record({ does: fc.constant("wait" as const), ms: fc.constantFrom(1, 4_000, 45_000, 600_000) }),
  fc.record({
    does: fc.constant("configure" as const),
    fault: fc.constantFrom(undefined, "no"),
    answer: fc.constantFrom(undefined, "v=0"),
  }),
);

/** Lets microtasks settle. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await Promise.resolve();
}

describe("a call with a hostile peer", () => {
  fuzz(
    "ends once, in order, and leaves no timer or flow",
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), fc.boolean(), async (steps, followRedirects) => {
      const system = new SteppedSystem();
      const tx = new ScriptedTransactions();
      const negotiator = new RecordingNegotiator();
      const log: string[] = [];
      const agent = createUserAgent({
        transactions: tx,
        identity: { from: "<sip:us@x>", contact: (sentBy) => `sip:${sentBy}`, headers: [], product: "Ringport" },
        digest: new DigestClient({ user: "u", password: "p" }, system),
        trusts: () => true,
        nextHop: (uri) => uri,
        followRedirects,
        system,
        logger: silentLogger,
      });
      const call = agent.invite({
        target: "sip:them@example.com",
        callId: "call",
        negotiator,
        listener: {
          placed: () => log.push("placed"),
          progressed: () => {},
          ringing: () => log.push("ringing"),
          earlyMedia: () => log.push("early"),
          answered: () => log.push("answered"),
          digit: () => log.push("digit"),
          holdChanged: () => log.push("held"),
          ended: () => log.push("ended"),
        },
      });
      await settle();
      const invite = tx.sent[0]!;
      for (const action of steps) {
        const pending = tx.sent.filter(({ isFinished }) => !isFinished);
        const request = "pick" in action ? pending[action.pick % Math.max(1, pending.length)] : undefined;
        if (action.does === "respond")
          request?.respond(action.status, { tag: action.tag, fields: action.fields, sdp: action.body });
        else if (action.does === "fail") request?.fail(new TransportError("closed", "gone"));
        else if (action.does === "answer late")
          tx.lateSuccess(invite.response(200, { tag: action.tag, fields: action.fields, sdp: action.body }));
        else if (action.does === "hangUp") void call.hangUp();
        else if (action.does === "press") call.sendDigit("1", 100).catch(() => {});
        else if (action.does === "wait") system.elapse(action.ms);
        else if (action.does === "configure") Object.assign(negotiator, { fault: action.fault, answer: action.answer });
        else
          tx.receive(
            action.method,
            [
              ["From", `<sip:them@example.com>;tag=${action.tag ?? ""}`],
              ["To", invite.header("From")!],
              ["Call-ID", invite.header("Call-ID")!],
              ["CSeq", `${action.cseq} ${action.method}`],
              ...action.fields,
            ],
            action.body,
          );
        await settle();
      }
      void call.hangUp();
      system.elapse(4_000);
      await call.hangUp();
      for (const sent of tx.sent)
        if (sent.method === "BYE" && !sent.isFinished) sent.fail(new TransportError("timeout", "no response"));

      expect(log.filter((line) => line === "ended")).toHaveLength(1);
      expect(log.at(-1)).toBe("ended");
      expect(log.indexOf("placed")).toBe(0);
      const answeredAt = log.indexOf("answered");
      expect(log.filter((line) => line === "answered").length).toBeLessThanOrEqual(1);
      expect(log.filter((line) => line === "early").length).toBeLessThanOrEqual(1);
      if (answeredAt >= 0)
        expect(Math.max(log.lastIndexOf("ringing"), log.lastIndexOf("early"))).toBeLessThan(answeredAt);
      if (log.includes("held")) expect(log.indexOf("held")).toBeGreaterThan(answeredAt);
      expect({ calls: agent.calls, timers: system.waiting, held: tx.flow.holds }).toEqual({
        calls: 0,
        timers: 0,
        held: 0,
      });
      // Every 2xx of another fork gets its ACK, so that it is not repeated for half a minute.
      const answers = tx.sent.filter(({ method, finalStatus }) => method === "INVITE" && finalStatus === 200).length;
      expect(tx.acks.length).toBeGreaterThanOrEqual(answers);
    }),
  );
});
