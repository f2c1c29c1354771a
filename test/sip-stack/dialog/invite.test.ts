import { describe, expect, test } from "vitest";
import { TransportError } from "../../../adapters/sip-stack/transport/transport.ts";
import { ScriptedCall, sdp } from "./support/scripted-call.ts";

const challenge = (nonce: string): readonly [string, string] => [
  "WWW-Authenticate",
  `Digest realm="test", nonce="${nonce}", algorithm=SHA-256, qop="auth"`,
];

describe("an outbound call", () => {
  test("an INVITE carries caller, callee, Contact and offer", async () => {
    const { invite, log, tx } = await ScriptedCall.placed();
    expect(invite.request.uri).toBe("sip:+12025550100@example.com");
    expect(invite.to).toBe("sip:192.0.2.1");
    expect(invite.header("To")).toBe("<sip:+12025550100@example.com>");
    expect(invite.header("From")).toMatch(/^"Us" <sip:100@example.com>;tag=[0-9a-f]{16}$/);
    expect(invite.header("Contact")).toBe("<sip:100@192.0.2.7:5060>");
    expect(invite.header("CSeq")).toBe("1 INVITE");
    expect(invite.header("Supported")).toBe("timer, 100rel");
    expect(invite.header("Session-Expires")).toBe("1800");
    expect(invite.header("X-Trunk")).toBe("one");
    expect(invite.header("Max-Forwards")).toBe("70");
    expect(invite.body).toBe("v=0 our offer");
    expect(log).toEqual(["placed"]);
    expect(tx.flow.holds).toBe(1);
  });

  test("events are reported in order, ringing once", async () => {
    const call = await ScriptedCall.placed();
    call.invite.respond(100);
    call.invite.respond(180, { tag: "a" });
    call.invite.respond(180, { tag: "a" });
    call.invite.respond(183, { tag: "a", sdp: sdp() });
    call.invite.respond(183, { tag: "a", sdp: sdp() });
    call.accept();
    expect(call.log).toEqual(["placed", "ringing", "early media", "answered"]);
    expect(call.negotiator.log).toEqual(["offer", "early", "answered"]);
  });

  test("a 200 is acknowledged through its routes", async () => {
    const call = await ScriptedCall.placed();
    call.accept({
      fields: [
        ["Record-Route", "<sip:p2.example.com;lr>, <sip:p1.example.com;lr>"],
        ["Contact", "<sip:callee@10.0.0.1:5070>"],
      ],
    });
    const [ack] = call.tx.acks;
    expect(ack?.request.uri).toBe("sip:callee@10.0.0.1:5070");
    expect(ack?.request.headers.fields("Route")).toEqual(["<sip:p1.example.com;lr>", "<sip:p2.example.com;lr>"]);
    expect(ack?.request.headers.get("CSeq")).toBe("1 ACK");
    expect(ack?.to).toBe("sip:p1.example.com;lr");
  });

  test("every message is traced in order", async () => {
    const call = await ScriptedCall.placed();
    call.invite.respond(401, { fields: [challenge("n1")] });
    await call.system.settle();
    call.invite.respond(180, { tag: "a" });
    call.accept();
    await call.receive("INVITE", { body: sdp() });
    await call.receive("BYE", { cseq: 2 });
    expect(call.trace).toEqual([
      ...["sent INVITE", "received 401", "sent INVITE", "received 180", "received 200", "sent ACK"],
      ...["received INVITE", "sent 200", "received BYE", "sent 200"],
    ]);
  });

  test("a retransmitted 200 is acknowledged again", async () => {
    const call = await ScriptedCall.answered();
    call.tx.lateSuccess(call.invite.response(200, { tag: "a", sdp: sdp() }));
    expect(call.tx.acks.map(({ request }) => request.headers.get("CSeq"))).toEqual(["1 ACK", "1 ACK"]);
    expect(call.tx.count("BYE")).toBe(0);
  });

  test("a challenge gets a new CSeq; the ACK repeats the credentials", async () => {
    const call = await ScriptedCall.placed();
    const first = call.invite;
    first.respond(401, { tag: "x", fields: [challenge("n1")] });
    await call.system.settle();
    expect(call.invite).not.toBe(first);
    expect(call.invite.header("CSeq")).toBe("2 INVITE");
    for (const name of ["Call-ID", "From", "To"]) expect(call.invite.header(name)).toBe(first.header(name));
    expect(call.invite.header("Authorization")).toContain('nonce="n1"');
    call.accept();
    expect(call.tx.acks[0]?.request.headers.get("Authorization")).toBe(call.invite.header("Authorization"));
    expect(call.log).toEqual(["placed", "answered"]);
  });

  test("a repeated challenge ends the call with the reason", async () => {
    const call = await ScriptedCall.placed();
    call.invite.respond(407, { fields: [["Proxy-Authenticate", challenge("n1")[1]]] });
    call.invite.respond(407, { fields: [["Proxy-Authenticate", challenge("n1")[1]]] });
    await call.system.settle();
    expect(call.tx.count("INVITE")).toBe(2);
    expect(call.end).toMatchObject({ type: "rejected", refusal: { code: "wrong_password" } });
    expect(call.leftovers).toBe(0);
  });

  test("a final refusal ends the call and reports whether it rang", async () => {
    const call = await ScriptedCall.placed();
    call.invite.respond(180, { tag: "a" });
    call.invite.respond(486, { tag: "a", reason: "Busy Here" });
    expect(call.end).toMatchObject({ type: "rejected", hasRung: true, response: { status: 486, reason: "Busy Here" } });
    expect(call.log.filter((line) => line.startsWith("ended"))).toHaveLength(1);
    expect(call.leftovers).toBe(0);
  });

  test.each([
    ["at once", [503], true],
    ["after 100", [100, 503], true],
    ["after a challenge", [401, 500], true],
    ["after 180", [180, 503], false],
    ["after 183", [183, 503], false],
    ["after a fork has failed", [199, 503], false],
    ["after 183 to an INVITE that was refused and sent again", [183, 420, 503], false],
  ])("a refusal %s reports possible ringing", async (_when, statuses, neverRang) => {
    const call = await ScriptedCall.placed();
    for (const status of statuses) {
      call.invite.respond(status, { tag: "a", fields: status === 401 ? [challenge("n1")] : [] });
      await call.system.settle();
    }
    expect(call.end).toMatchObject({ type: "rejected", response: { status: statuses.at(-1) }, neverRang });
  });

  test("a network fault ends the call as unreachable", async () => {
    const call = await ScriptedCall.placed();
    call.invite.fail(new TransportError("timeout", "192.0.2.1 does not respond"));
    const detail = "192.0.2.1 does not respond";
    expect(call.end).toEqual({ type: "unreachable", detail, isRedirected: false, neverRang: false });
    expect(call.leftovers).toBe(0);
  });

  test("a 200 without SDP is acknowledged and released", async () => {
    const call = await ScriptedCall.placed();
    call.accept({ sdp: undefined });
    expect(call.tx.acks).toHaveLength(1);
    call.tx.last("BYE").respond(200);
    expect(call.end).toEqual({ type: "media", detail: "the peer answered without SDP", isUnacceptable: true });
    expect(call.log).not.toContain("answered");
    expect(call.leftovers).toBe(0);
  });

  test("a 200 with unacceptable SDP is acknowledged and released with the reason", async () => {
    const call = await ScriptedCall.placed();
    call.negotiator.fault = "no codec in common";
    call.accept();
    expect(call.tx.acks).toHaveLength(1);
    call.tx.last("BYE").respond(200);
    expect(call.end).toEqual({ type: "media", detail: "no codec in common", isUnacceptable: true });
  });
});

describe("hanging up", () => {
  test("before the INVITE was sent sends no request", async () => {
    const call = new ScriptedCall();
    await call.usage.hangUp();
    await call.system.settle();
    expect(call.tx.sent).toEqual([]);
    expect(call.log).toEqual(["ended released"]);
    expect(call.leftovers).toBe(0);
  });

  test("while ringing sends CANCEL, and ends with 487", async () => {
    const call = await ScriptedCall.placed();
    call.invite.respond(180, { tag: "a" });
    const hangUp = call.usage.hangUp('SIP;cause=200;text="Call completed elsewhere"');
    expect(call.invite.cancelReason).toBe('SIP;cause=200;text="Call completed elsewhere"');
    expect(call.end).toBeUndefined();
    call.invite.respond(487);
    await hangUp;
    expect(call.end).toEqual({ type: "released" });
    expect(call.leftovers).toBe(0);
  });

  test("acknowledges and releases a crossing 200", async () => {
    const call = await ScriptedCall.placed();
    const hangUp = call.usage.hangUp();
    call.accept();
    expect(call.tx.acks).toHaveLength(1);
    expect(call.log).not.toContain("answered");
    call.tx.last("BYE").respond(200);
    await hangUp;
    expect(call.log.at(-1)).toBe("ended released");
    expect(call.leftovers).toBe(0);
  });

  test("ends after 4 s if the CANCEL is ignored; a late 200 is released", async () => {
    const call = await ScriptedCall.placed();
    void call.usage.hangUp();
    await call.system.advance(4000);
    expect(call.log.at(-1)).toBe("ended released");
    expect(call.leftovers).toBe(0);
    call.accept();
    await call.system.settle();
    expect(call.tx.acks).toHaveLength(1);
    expect(call.tx.count("BYE")).toBe(1);
    call.tx.last("BYE").respond(200);
    expect(call.leftovers).toBe(0);
  });

  test("after the answer sends one BYE only", async () => {
    const call = await ScriptedCall.answered();
    const hangUp = Promise.all([call.usage.hangUp("Q.850;cause=16"), call.usage.hangUp()]);
    const bye = call.tx.last("BYE");
    expect(bye.request.uri).toBe("sip:callee@192.0.2.9:5070");
    expect(bye.header("Reason")).toBe("Q.850;cause=16");
    expect(bye.header("CSeq")).toBe("2 BYE");
    expect(bye.header("Contact")).toBeUndefined();
    bye.respond(200);
    await hangUp;
    expect(call.tx.count("BYE")).toBe(1);
    expect(call.log).toEqual(["placed", "answered", "ended released"]);
    expect(call.leftovers).toBe(0);
  });

  test("repeats a challenged BYE with credentials", async () => {
    const call = await ScriptedCall.answered();
    void call.usage.hangUp();
    call.tx.last("BYE").respond(407, { fields: [["Proxy-Authenticate", challenge("n2")[1]]] });
    expect(call.tx.last("BYE").header("Proxy-Authorization")).toContain('nonce="n2"');
    expect(call.tx.last("BYE").header("CSeq")).toBe("3 BYE");
    call.tx.last("BYE").respond(200);
    expect(call.end).toEqual({ type: "released" });
  });

  test("ends 4 s after an unanswered BYE", async () => {
    const call = await ScriptedCall.answered();
    const hangUp = call.usage.hangUp();
    await call.system.advance(4000);
    await hangUp;
    expect(call.end).toEqual({ type: "released" });
    expect(call.leftovers).toBe(call.tx.flow.holds);
    call.tx.last("BYE").fail(new TransportError("timeout", "no response"));
    expect(call.leftovers).toBe(0);
  });

  test("ends all calls at closing", async () => {
    const call = await ScriptedCall.answered();
    const closing = call.agent.close();
    call.tx.last("BYE").respond(200);
    await closing;
    expect(call.end).toEqual({ type: "released" });
    expect(call.leftovers).toBe(0);
  });
});

describe("a BYE from the peer", () => {
  test("gets a response, and its Reason is reported", async () => {
    const call = await ScriptedCall.answered();
    const bye = await call.receive("BYE", { fields: [["Reason", 'Q.850;cause=16;text="Normal"']] });
    expect(bye.status).toBe(200);
    expect(call.end).toEqual({ type: "bye", reason: 'Q.850;cause=16;text="Normal"' });
    expect(call.tx.count("BYE")).toBe(0);
    expect(call.leftovers).toBe(0);
  });

  test("that crosses our BYE gets a response; the call ends as released by us", async () => {
    const call = await ScriptedCall.answered();
    void call.usage.hangUp();
    const bye = await call.receive("BYE");
    expect(bye.status).toBe(200);
    expect(call.end).toEqual({ type: "released" });
    call.tx.last("BYE").respond(481);
    expect(call.leftovers).toBe(0);
  });

  test("is refused if repeated", async () => {
    const call = await ScriptedCall.answered();
    await call.receive("BYE");
    expect((await call.receive("BYE", { cseq: 2 })).status).toBe(481);
  });

  test("with another tag is refused", async () => {
    const call = await ScriptedCall.answered();
    expect((await call.receive("BYE", { tag: "stranger" })).status).toBe(481);
    expect(call.end).toBeUndefined();
    await call.receive("BYE");
  });
});
