import { describe, expect, test } from "vitest";
import { TransportError } from "../../../adapters/sip-stack/transport/transport.ts";
import { ScriptedCall } from "./support/scripted-call.ts";
import { ScriptedFlow, type ScriptedRequest } from "./support/scripted-transactions.ts";

/** A peer's request outside any call. */
function receive(
  call: ScriptedCall,
  method: string,
  fields: readonly (readonly [string, string])[] = [],
  toTag = "",
): ScriptedRequest {
  return call.tx.receive(method, [
    ["From", "<sip:them@example.net>;tag=t"],
    ["To", `<sip:us@example.com>${toTag}`],
    ["Call-ID", "foreign"],
    ["CSeq", `1 ${method}`],
    ...fields,
  ]);
}

describe("a request outside any call", () => {
  test("OPTIONS gets our capabilities and a To tag", async () => {
    const response = receive(await ScriptedCall.placed(), "OPTIONS");
    expect(response.status).toBe(200);
    expect(response.header("Allow")).toBe("INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE, PRACK, NOTIFY");
    expect(response.header("Accept")).toContain("application/sdp");
    expect(response.header("Supported")).toBe("timer, 100rel");
    expect(response.header("To")).toMatch(/^<sip:us@example.com>;tag=[0-9a-f]{16}$/);
    expect(response.header("Server")).toBe("Ringport");
  });

  test("an INVITE is refused with 480, so other phones keep ringing", async () => {
    expect(receive(await ScriptedCall.placed(), "INVITE").status).toBe(480);
  });

  test("an unknown dialog's request gets 481", async () => {
    const call = await ScriptedCall.placed();
    for (const method of ["BYE", "CANCEL", "INFO", "NOTIFY", "PRACK", "UPDATE"])
      expect(receive(call, method).status, method).toBe(481);
    for (const method of ["INVITE", "OPTIONS", "BYE", "MESSAGE", "PUBLISH"])
      expect(receive(call, method, [], ";tag=gone").status, method).toBe(481);
  });

  test("other methods are refused with our Allow", async () => {
    const call = await ScriptedCall.placed();
    for (const method of ["MESSAGE", "REFER", "SUBSCRIBE", "REGISTER", "PUBLISH"]) {
      const response = receive(call, method);
      expect(response.status, method).toBe(405);
      expect(response.header("Allow")).toContain("BYE");
    }
    for (const method of ["FROBNICATE", "constructor", "toString"])
      expect(receive(call, method).status, method).toBe(501);
  });

  test("an unknown extension is refused by name", async () => {
    const call = await ScriptedCall.answered();
    const response = receive(call, "OPTIONS", [
      ["Require", "timer, sec-agree"],
      ["Require", "Join"],
    ]);
    expect(response.status).toBe(420);
    expect(response.header("Unsupported")).toBe("sec-agree, Join");
    expect((await call.receive("UPDATE", { fields: [["Require", "precondition"]] })).status).toBe(420);
  });

  test("a stray ACK gets no response", async () => {
    const call = await ScriptedCall.placed();
    expect(receive(call, "ACK", [["Require", "what"]]).responses).toEqual([]);
    expect(receive(call, "ACK", [], ";tag=x").responses).toEqual([]);
  });
});

describe("a request within a dialog", () => {
  test("is declined for REFER, refused for MESSAGE and accepted for OPTIONS", async () => {
    const call = await ScriptedCall.answered();
    const statuses = [];
    for (const [index, method] of ["REFER", "MESSAGE", "NOTIFY", "PRACK", "OPTIONS", "constructor"].entries())
      statuses.push((await call.receive(method, { cseq: index + 1 })).status);
    expect(statuses).toEqual([603, 405, 489, 481, 200, 501]);
    expect(call.end).toBeUndefined();
  });
});

describe("a request that we send outside a call", () => {
  const challenge = ["WWW-Authenticate", 'Digest realm="r", nonce="n", algorithm=MD5, qop="auth"'] as const;

  test("responds to a challenge, returning response, flow and request", async () => {
    const call = await ScriptedCall.placed();
    const series = call.agent.series();
    const reply = call.agent.request({
      method: "REGISTER",
      uri: "sip:example.com",
      to: "<sip:100@example.com>",
      headers: [["Expires", "300"]],
      series,
    });
    await call.system.settle();
    const first = call.tx.last("REGISTER");
    expect(first.header("Contact")).toBe("<sip:100@192.0.2.7:5060>");
    expect(first.header("To")).toBe("<sip:100@example.com>");
    first.respond(401, { fields: [challenge] });
    await call.system.settle();
    const second = call.tx.last("REGISTER");
    expect(second.header("CSeq")).toBe("2 REGISTER");
    expect(second.header("Call-ID")).toBe(first.header("Call-ID"));
    expect(second.header("Authorization")).toContain('nonce="n"');
    second.respond(200);
    expect(await reply).toMatchObject({ response: { status: 200 }, flow: call.tx.flow, request: second.request });
    expect(series.cseq).toBe(2);
  });

  test("reports why a challenge could not be met", async () => {
    const call = await ScriptedCall.placed();
    const reply = call.agent.request({ method: "OPTIONS", uri: "sip:example.com" });
    for (let times = 0; times < 2; times++) call.tx.last("OPTIONS").respond(401, { fields: [challenge] });
    expect((await reply).response.status).toBe(401);
    expect((await reply).refusal).toMatchObject({ code: "wrong_password" });
  });

  test("fails with the fault of the network, and can be aborted", async () => {
    const call = await ScriptedCall.placed();
    const reply = call.agent.request({ method: "OPTIONS", uri: "sip:example.com" });
    call.tx.last("OPTIONS").fail(new TransportError("timeout", "silence"));
    await expect(reply).rejects.toThrow("silence");
    const controller = new AbortController();
    const request = call.agent.request({ method: "OPTIONS", uri: "sip:example.com" }, controller.signal);
    controller.abort(new Error("no longer"));
    await expect(request).rejects.toThrow("no longer");
    expect(call.tx.last("OPTIONS").isAbandoned).toBe(true);
  });

  test("uses the given flow, or another one if that is closed", async () => {
    const call = await ScriptedCall.placed();
    const flow = new ScriptedFlow("tls");
    const reply = call.agent.request({ method: "OPTIONS", uri: "sip:example.com", flow });
    expect(call.tx.last("OPTIONS").to).toBe(flow);
    call.tx.last("OPTIONS").fail(new TransportError("closed", "the connection was closed"));
    expect(call.tx.last("OPTIONS").to).toBe("sip:192.0.2.1");
    call.tx.last("OPTIONS").respond(200);
    expect((await reply).response.status).toBe(200);
  });
});
