import { describe, expect, test } from "vitest";
import { ScriptedCall, sdp } from "./support/scripted-call.ts";

const reliable = (rseq: number): readonly (readonly [string, string])[] => [
  ["Require", "100rel"],
  ["RSeq", String(rseq)],
  ["Contact", "<sip:callee@192.0.2.9:5070>"],
];

describe("reliable provisional responses", () => {
  test("are acknowledged by PRACK in the early dialog", async () => {
    const call = await ScriptedCall.placed();
    call.invite.respond(180, {
      tag: "a",
      fields: [...reliable(776656), ["Record-Route", "<sip:proxy.example.com;lr>"]],
    });
    const prack = call.tx.last("PRACK");
    expect(prack.header("RAck")).toBe("776656 1 INVITE");
    expect(prack.header("CSeq")).toBe("2 PRACK");
    expect(prack.header("To")).toContain("tag=a");
    expect(prack.request.uri).toBe("sip:callee@192.0.2.9:5070");
    expect(prack.header("Route")).toBe("<sip:proxy.example.com;lr>");
    expect(call.log).toEqual(["placed", "ringing"]);
  });

  test("are ignored if retransmitted or misordered, per fork", async () => {
    const call = await ScriptedCall.placed();
    call.invite.respond(183, { tag: "a", fields: reliable(10) });
    call.invite.respond(183, { tag: "a", fields: reliable(10) });
    call.invite.respond(180, { tag: "a", fields: reliable(12) });
    expect(call.tx.count("PRACK")).toBe(1);
    expect(call.log).toEqual(["placed"]);
    call.invite.respond(183, { tag: "a", fields: reliable(11) });
    call.invite.respond(180, { tag: "a", fields: reliable(12) });
    expect(call.log).toEqual(["placed", "ringing"]);
    call.invite.respond(180, { tag: "b", fields: reliable(500) });
    const racks = call.tx.sent.filter(({ method }) => method === "PRACK").map((sent) => sent.header("RAck"));
    expect(racks).toEqual(["10 1 INVITE", "11 1 INVITE", "12 1 INVITE", "500 1 INVITE"]);
  });

  test("carry the answer; the 200 needs no SDP", async () => {
    const call = await ScriptedCall.placed();
    call.invite.respond(183, { tag: "a", fields: reliable(1), sdp: sdp() });
    call.tx.last("PRACK").respond(200);
    call.accept({ sdp: undefined });
    expect(call.log).toEqual(["placed", "early media", "answered"]);
    expect(call.negotiator.log).toEqual(["offer", "early", "answered"]);
    void call.usage.hangUp();
    expect(call.tx.last("BYE").header("CSeq")).toBe("3 BYE");
  });

  test("keep the call alive if the PRACK is refused or lost", async () => {
    const call = await ScriptedCall.placed();
    call.invite.respond(180, { tag: "a", fields: reliable(1) });
    call.tx.last("PRACK").respond(481);
    call.accept();
    expect(call.log.at(-1)).toBe("answered");
    await call.receive("BYE");
    expect(call.leftovers).toBe(0);
  });

  test("allow an early UPDATE after our offer's answer", async () => {
    const call = await ScriptedCall.placed();
    call.invite.respond(180, { tag: "a", fields: reliable(1) });
    expect((await call.receive("UPDATE", { cseq: 1, body: sdp() })).status).toBe(491);
    call.invite.respond(183, { tag: "a", fields: reliable(2), sdp: sdp() });
    const update = await call.receive("UPDATE", { cseq: 2, body: sdp() });
    expect(update.status).toBe(200);
    expect(update.body).toBe("v=0 our answer");
  });

  test("a 200 that repeats the first answer does not undo an UPDATE", async () => {
    const call = await ScriptedCall.placed();
    call.invite.respond(183, { tag: "a", fields: reliable(1), sdp: sdp("sendrecv", 4000) });
    await call.receive("UPDATE", { body: sdp("sendonly", 4002) });
    call.accept({ sdp: sdp("sendrecv", 4000).replace("o=- 1 1", "o=- 1 2") });
    expect(call.negotiator.log).toEqual(["offer", "early", "reoffered early", "confirmed"]);
    expect(call.log).toEqual(["placed", "early media", "answered", "held"]);
  });

  test("a 200 with new SDP is accepted, even after an UPDATE", async () => {
    const call = await ScriptedCall.placed();
    call.invite.respond(183, { tag: "a", fields: reliable(1), sdp: sdp("sendrecv", 4000) });
    await call.receive("UPDATE", { body: sdp("sendonly", 4002) });
    call.accept({ sdp: sdp("sendrecv", 4004) });
    expect(call.negotiator.log).toEqual(["offer", "early", "reoffered early", "answered"]);
    expect(call.log).toEqual(["placed", "early media", "answered"]);
  });
});
