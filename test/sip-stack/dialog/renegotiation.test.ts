import { describe, expect, test } from "vitest";
import { ScriptedCall, sdp } from "./support/scripted-call.ts";

describe("a re-INVITE or UPDATE from the peer", () => {
  test("is answered with our SDP and Contact", async () => {
    for (const method of ["INVITE", "UPDATE"]) {
      const call = await ScriptedCall.answered();
      const response = await call.receive(method, { body: sdp() });
      expect(response.status).toBe(200);
      expect(response.body).toBe("v=0 our answer");
      expect(response.header("Contact")).toBe("<sip:100@192.0.2.7:5060>");
      expect(response.header("Content-Type")).toBe("application/sdp");
      expect(call.log).toEqual(["placed", "answered"]);
    }
  });

  test("reports hold and resume once each", async () => {
    const call = await ScriptedCall.answered();
    const directions = ["sendonly", "inactive", "sendrecv", "sendrecv", "recvonly"];
    for (const [index, direction] of directions.entries())
      await call.receive("INVITE", { cseq: index + 1, body: sdp(direction) });
    expect(call.log).toEqual(["placed", "answered", "held", "resumed"]);
  });

  test("reports hold for an address of zeros", async () => {
    const call = await ScriptedCall.answered();
    await call.receive("INVITE", { body: sdp().replace("c=IN IP4 192.0.2.1", "c=IN IP4 0.0.0.0") });
    expect(call.log.at(-1)).toBe("held");
  });

  test("a first answer's hold is reported afterwards", async () => {
    const call = await ScriptedCall.placed();
    call.accept({ sdp: sdp("inactive") });
    expect(call.log).toEqual(["placed", "answered", "held"]);
  });

  test("a hold beyond the limit ends the call", async () => {
    const call = await ScriptedCall.answered({ holdTimeoutMs: 30_000 });
    await call.receive("INVITE", { body: sdp("sendonly") });
    await call.system.advance(29_999);
    expect(call.tx.count("BYE")).toBe(0);
    await call.system.advance(1);
    call.tx.last("BYE").respond(200);
    expect(call.end).toEqual({ type: "media", detail: "the peer held the call for more than 30 s" });
    expect(call.leftovers).toBe(0);
  });

  test("a resume within the limit leaves no timer", async () => {
    const call = await ScriptedCall.answered();
    await call.receive("INVITE", { cseq: 1, body: sdp("sendonly") });
    await call.receive("INVITE", { cseq: 2, body: sdp("sendrecv") });
    await call.system.advance(600_000);
    expect(call.end).toBeUndefined();
    expect(call.system.waiting).toBe(0);
  });

  test("an unacceptable offer gets 488 without changes", async () => {
    const call = await ScriptedCall.answered();
    call.negotiator.answer = undefined;
    expect((await call.receive("INVITE", { body: sdp("sendonly") })).status).toBe(488);
    expect(call.log).toEqual(["placed", "answered"]);
  });

  test("a re-INVITE without SDP gets our offer; its ACK carries the answer", async () => {
    const call = await ScriptedCall.answered();
    const response = await call.receive("INVITE", { cseq: 7 });
    expect(response.body).toBe("v=0 our offer");
    // Our offer is pending: another one has to wait.
    expect((await call.receive("UPDATE", { cseq: 8, body: sdp() })).status).toBe(491);
    await call.receive("ACK", { cseq: 7, body: sdp("sendonly") });
    expect(call.negotiator.log).toEqual(["offer", "answered", "offer", "answered"]);
    expect(call.log.at(-1)).toBe("held");
    expect((await call.receive("UPDATE", { cseq: 9, body: sdp() })).status).toBe(200);
  });

  test("an unacceptable ACK answer ends the call", async () => {
    for (const body of ["", sdp()]) {
      const call = await ScriptedCall.answered();
      await call.receive("INVITE", { cseq: 7 });
      call.negotiator.fault = "no codec in common";
      await call.receive("ACK", { cseq: 7, body });
      call.tx.last("BYE").respond(200);
      expect(call.end?.type).toBe("media");
    }
  });

  test("a 2xx without ACK ends the call as a protocol fault", async () => {
    const call = await ScriptedCall.answered();
    call.tx.unacknowledged(await call.receive("INVITE", { body: sdp() }));
    call.tx.last("BYE").respond(200);
    expect(call.end?.type).toBe("protocol");
    expect(call.leftovers).toBe(0);
  });

  test("an UPDATE without SDP changes only the target", async () => {
    const call = await ScriptedCall.answered();
    const response = await call.receive("UPDATE", { fields: [["Contact", "<sip:moved@192.0.2.44>"]] });
    expect(response.status).toBe(200);
    expect(response.body).toBe("");
    void call.usage.hangUp();
    expect(call.tx.last("BYE").request.uri).toBe("sip:moved@192.0.2.44");
  });

  test("another body type is refused with Accept", async () => {
    const call = await ScriptedCall.answered();
    const response = await call.receive("INVITE", { body: "<xml/>", type: "text/xml" });
    expect(response.status).toBe(415);
    expect(response.header("Accept")).toBe("application/sdp");
  });

  test("a request out of order is refused", async () => {
    const call = await ScriptedCall.answered();
    await call.receive("INVITE", { cseq: 5, body: sdp() });
    expect((await call.receive("INVITE", { cseq: 4, body: sdp() })).status).toBe(500);
  });

  test("is refused after our BYE, but a BYE is accepted", async () => {
    const call = await ScriptedCall.answered();
    void call.usage.hangUp();
    expect((await call.receive("INVITE", { body: sdp("sendonly") })).status).toBe(481);
    expect(call.log).toEqual(["placed", "answered"]);
    call.tx.last("BYE").respond(200);
    expect(call.leftovers).toBe(0);
  });
});
