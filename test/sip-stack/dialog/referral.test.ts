import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TransportError } from "../../../adapters/sip-stack/transport/transport.ts";
import type { TransferOutcome } from "../../../src/ports/telephony.ts";
import { fuzz } from "../../support/fuzz.ts";
import { ScriptedCall } from "./support/scripted-call.ts";
import type { ScriptedRequest, SentRequest } from "./support/scripted-transactions.ts";

const TARGET = "sip:+12025550123@example.com";

/** An answered call whose peer has received a REFER. */
class ReferredCall {
  readonly call: ScriptedCall;
  outcome: TransferOutcome | undefined;
  fault: Error | undefined;
  #cseq = 0;

  private constructor(call: ScriptedCall) {
    this.call = call;
    this.refer();
  }

  static async start(): Promise<ReferredCall> {
    return new ReferredCall(await ScriptedCall.answered());
  }

  refer(): void {
    this.outcome = this.fault = undefined;
    this.call.usage.refer(TARGET).then(
      (outcome) => {
        this.outcome = outcome;
      },
      (fault: Error) => {
        this.fault = fault;
      },
    );
  }

  get request(): SentRequest {
    return this.call.tx.last("REFER");
  }

  async agree(status = 202): Promise<void> {
    this.request.respond(status, { reason: "Accepted" });
    await this.call.system.settle();
  }

  /** The peer's NOTIFY. */
  notify(
    body: string,
    {
      state = "active;expires=60",
      event = "refer",
      type = "message/sipfrag;version=2.0",
      fields: extraFields = [] as [string, string][],
    } = {},
  ): Promise<ScriptedRequest> {
    const fields = [["Event", event] as const, ["Subscription-State", state] as const, ...extraFields];
    return this.call.receive("NOTIFY", { cseq: ++this.#cseq, body, type, fields });
  }

  bye(): Promise<ScriptedRequest> {
    return this.call.receive("BYE", { cseq: ++this.#cseq });
  }
}

describe("a transfer by REFER", () => {
  test("is requested within the dialog, and accepted once the other phone has answered", async () => {
    const peer = await ReferredCall.start();
    const { request, call } = peer;
    expect(request.request.uri).toBe("sip:callee@192.0.2.9:5070");
    expect(request.header("Refer-To")).toBe(`<${TARGET}>`);
    expect(request.header("Referred-By")).toBe("<sip:100@example.com>");
    expect(request.header("Contact")).toBe("<sip:100@192.0.2.7:5060>");
    expect(request.header("To")).toMatch(/;tag=a$/);
    await peer.agree();
    expect((await peer.notify("SIP/2.0 100 Trying\r\n")).status).toBe(200);
    expect((await peer.notify("SIP/2.0 180 Ringing\r\n")).status).toBe(200);
    expect(peer.outcome).toBeUndefined();
    const last = await peer.notify("SIP/2.0 200 OK\r\n", { state: "terminated;reason=noresource" });
    expect(last.status).toBe(200);
    expect(peer.outcome).toEqual({ type: "accepted", detail: "SIP 200 OK" });
    // The requester hangs up.
    expect(call.log).toEqual(["placed", "answered"]);
    const hangUp = call.usage.hangUp();
    call.tx.last("BYE").respond(200);
    await hangUp;
    expect(call.leftovers).toBe(0);
  });

  test.for([
    ["SIP/2.0 486 Busy Here\r\n", "SIP 486 Busy Here"],
    ["SIP/2.0 302 Moved\r\nContact: <sip:x@y>\r\n", "SIP 302 Moved"],
    ["SIP/2.0 603\r\n", "SIP 603"],
  ] as const)("fails if the peer reports %j, and may be requested again", async ([body, detail]) => {
    const peer = await ReferredCall.start();
    await peer.agree();
    await peer.notify(body, { state: "terminated;reason=noresource" });
    expect(peer.outcome).toEqual({ type: "failed", detail });
    peer.refer();
    await peer.agree();
    await peer.notify("SIP/2.0 200 OK", { state: "terminated;reason=noresource" });
    expect(peer.outcome).toEqual({ type: "accepted", detail: "SIP 200 OK" });
  });

  test.for([405, 481, 501, 603])("fails if the peer refuses it with %d, and the call continues", async (status) => {
    const peer = await ReferredCall.start();
    peer.request.respond(status, { reason: "No" });
    await peer.call.system.settle();
    expect(peer.outcome).toEqual({ type: "failed", detail: `SIP ${status} No` });
    expect(peer.call.end).toBeUndefined();
  });

  test("fails without a response, or without a report within 60 s", async () => {
    const unansweredCall = await ReferredCall.start();
    unansweredCall.request.fail(new TransportError("timeout", "silence"));
    await unansweredCall.call.system.settle();
    expect(unansweredCall.outcome).toEqual({ type: "failed", detail: "silence" });
    const unreportedCall = await ReferredCall.start();
    await unreportedCall.agree();
    await unreportedCall.call.system.advance(59_900);
    expect(unreportedCall.outcome).toBeUndefined();
    await unreportedCall.call.system.advance(200);
    expect(unreportedCall.outcome).toEqual({ type: "failed", detail: "the peer reported no outcome within 60 s" });
    expect((await unreportedCall.notify("SIP/2.0 200 OK")).status).toBe(200);
    expect(unreportedCall.call.end).toBeUndefined();
  });

  test("is repeated with credentials on request", async () => {
    const peer = await ReferredCall.start();
    const first = peer.request;
    first.respond(407, { fields: [["Proxy-Authenticate", 'Digest realm="example.com", nonce="n1", qop="auth"']] });
    await peer.call.system.settle();
    expect(peer.request).not.toBe(first);
    expect(peer.request.header("Proxy-Authorization")).toContain('username="agent"');
    await peer.agree();
    const id = peer.request.header("CSeq")?.split(" ")[0];
    expect((await peer.notify("SIP/2.0 200 OK", { event: `refer;id=${id}` })).status).toBe(200);
    expect(peer.outcome?.type).toBe("accepted");
  });

  test("is accepted if the peer leaves after it has agreed, and the call ends", async () => {
    for (const agreement of ["response", "report"] as const) {
      const peer = await ReferredCall.start();
      if (agreement === "response") await peer.agree();
      else await peer.notify("SIP/2.0 100 Trying");
      expect((await peer.bye()).status).toBe(200);
      expect(peer.outcome).toEqual({ type: "accepted", detail: "the peer left the call without a report" });
      expect(peer.call.end).toMatchObject({ type: "bye" });
      expect(peer.call.leftovers).toBe(0);
    }
  });

  test("is rejected if the call ends before the peer has agreed", async () => {
    const endedCall = await ReferredCall.start();
    await endedCall.bye();
    expect(endedCall.fault?.message).toContain("ended before the peer agreed");
    expect(endedCall.call.leftovers).toBe(0);
    const hungUpCall = await ReferredCall.start();
    const hangUp = hungUpCall.call.usage.hangUp();
    hungUpCall.call.tx.last("BYE").respond(200);
    await hangUp;
    expect(hungUpCall.fault?.message).toContain("ended before the peer agreed");
    expect(hungUpCall.call.leftovers).toBe(0);
  });

  test("is accepted at once if the peer will send no reports", async () => {
    const peer = await ReferredCall.start();
    peer.request.respond(202, { reason: "Accepted", fields: [["Refer-Sub", "false"]] });
    await peer.call.system.settle();
    expect(peer.outcome).toEqual({ type: "accepted", detail: "SIP 202 Accepted" });
  });

  test("waits 2 s for the BYE of a peer that stops reporting", async () => {
    const leavingPeer = await ReferredCall.start();
    await leavingPeer.agree();
    await leavingPeer.notify("SIP/2.0 100 Trying", { state: "terminated;reason=noresource" });
    await leavingPeer.call.system.advance(1_000);
    await leavingPeer.bye();
    expect(leavingPeer.outcome?.type).toBe("accepted");
    const stayingPeer = await ReferredCall.start();
    await stayingPeer.agree();
    await stayingPeer.notify("", { state: "terminated;reason=giveup" });
    await stayingPeer.call.system.advance(2_100);
    expect(stayingPeer.outcome).toEqual({ type: "failed", detail: "the peer reports no outcome (giveup)" });
  });

  test("is allowed one at a time, on an answered call", async () => {
    const peer = await ReferredCall.start();
    await expect(peer.call.usage.refer(TARGET)).rejects.toThrow("already being transferred");
    const ringingCall = await ScriptedCall.placed();
    await expect(ringingCall.usage.refer(TARGET)).rejects.toThrow("not been answered");
  });

  test("is not sent once the call may no longer send", async () => {
    const peer = await ReferredCall.start();
    expect(peer.request.maySend).toBe(true);
    peer.call.maySend = false;
    expect(peer.request.maySend).toBe(false);
  });
});

describe("a NOTIFY", () => {
  test("of another event package is refused with 489", async () => {
    const peer = await ReferredCall.start();
    for (const event of ["presence", "dialog;id=2", "", "refer.x"]) {
      const response = await peer.notify("<x/>", { event, type: "application/pidf+xml" });
      expect([response.status, response.header("Allow-Events")]).toEqual([489, "refer"]);
    }
  });

  test("without a REFER, or with the id of another one, is refused with 481", async () => {
    const call = await ScriptedCall.answered();
    const fields = [["Event", "refer"] as const, ["Subscription-State", "active"] as const];
    const response = await call.receive("NOTIFY", { body: "SIP/2.0 200 OK", type: "message/sipfrag", fields });
    expect(response.status).toBe(481);
    const peer = await ReferredCall.start();
    expect((await peer.notify("SIP/2.0 200 OK", { event: "refer;id=999999" })).status).toBe(481);
    expect(peer.outcome).toBeUndefined();
  });

  test("with another body is refused with 415, and a malformed report with 400", async () => {
    const peer = await ReferredCall.start();
    const response = await peer.notify("<x/>", { type: "application/xml" });
    expect([response.status, response.header("Accept")]).toEqual([415, "message/sipfrag"]);
    expect((await peer.notify("fine, thanks")).status).toBe(400);
    expect(peer.outcome).toBeUndefined();
  });

  test("is accepted late or twice, without effect", async () => {
    const peer = await ReferredCall.start();
    await peer.agree();
    await peer.notify("SIP/2.0 486 Busy Here", { state: "terminated;reason=noresource" });
    expect((await peer.notify("SIP/2.0 200 OK", { state: "terminated;reason=noresource" })).status).toBe(200);
    expect(peer.outcome).toEqual({ type: "failed", detail: "SIP 486 Busy Here" });
  });

  fuzz(
    "never breaks the call, whatever its content",
    fc.asyncProperty(
      fc.array(
        fc.record({
          body: fc.oneof(fc.string(), fc.constantFrom("SIP/2.0 100 Trying", "SIP/2.0 200 OK", "SIP/2.0 486 No")),
          event: fc.constantFrom("refer", "refer;id=1", "refer;id=2", "presence", ";;", "refer;id=\u0000"),
          state: fc.constantFrom("active", "terminated;reason=x", "pending;expires=99999999999", "", "\u00ff"),
          type: fc.constantFrom("message/sipfrag", "message/sipfrag;version=2.0", "multipart/mixed;boundary=x", "x"),
        }),
        { maxLength: 8 },
      ),
      fc.constantFrom(undefined, 202, 200, 403, 603),
      async (notifies, status) => {
        const peer = await ReferredCall.start();
        for (const [index, { body, ...options }] of notifies.entries()) {
          if (index === 1 && status !== undefined) peer.request.respond(status);
          expect([200, 400, 415, 481, 489]).toContain((await peer.notify(body, options)).status);
        }
        await peer.bye();
        expect(peer.call.end).toMatchObject({ type: "bye" });
        expect(peer.outcome !== undefined || peer.fault !== undefined).toBe(true);
        expect(peer.call.leftovers).toBe(0);
      },
    ),
  );
});
