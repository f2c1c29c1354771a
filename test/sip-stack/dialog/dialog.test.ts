import { describe, expect, test } from "vitest";
import { nextHop, SipDialog } from "../../../adapters/sip-stack/dialog/dialog.ts";
import { SipHeaders } from "../../../adapters/sip-stack/message/headers.ts";
import { responseTo, type SipResponse, sipRequest } from "../../../adapters/sip-stack/message/sip-message.ts";
import { TransportError } from "../../../adapters/sip-stack/transport/transport.ts";
import { ScriptedCall } from "./support/scripted-call.ts";
import { ScriptedFlow } from "./support/scripted-transactions.ts";

function response(fields: readonly (readonly [string, string])[]): SipResponse {
  const headers = new SipHeaders()
    .add("From", "<sip:us@example.com>;tag=l")
    .add("To", "<sip:them@example.com>;tag=r")
    .add("Call-ID", "c")
    .add("CSeq", "7 INVITE");
  const result = responseTo(sipRequest("INVITE", "sip:them@example.com", headers), 200, "OK");
  for (const [name, value] of fields) result.headers.add(name, value);
  return result;
}

describe("a dialog", () => {
  test("sends to the Contact without a route", () => {
    const dialog = new SipDialog(
      "sip:them@example.com",
      response([["Contact", '"T" <sip:t@192.0.2.9:5070;x=1>;expires=9']]),
    );
    const { request, next } = dialog.request("BYE");
    expect(request.uri).toBe("sip:t@192.0.2.9:5070;x=1");
    expect(next).toBe("sip:t@192.0.2.9:5070;x=1");
    expect(request.headers.has("Route")).toBe(false);
    expect(request.headers.get("CSeq")).toBe("8 BYE");
    expect(request.headers.get("From")).toBe("<sip:us@example.com>;tag=l");
    expect(request.headers.get("To")).toBe("<sip:them@example.com>;tag=r");
  });

  test("reverses loose routes and keeps their parameters", () => {
    const dialog = new SipDialog(
      "sip:x",
      response([
        ["Record-Route", "<sip:b.example.com;lr;ftag=1>, <sip:a.example.com;lr=on>"],
        ["Record-Route", "<sip:first.example.com;transport=tls;r2=on;lr>"],
        ["Contact", "<sip:t@10.1.1.1>"],
      ]),
    );
    const { request, next } = dialog.request("BYE");
    expect(request.uri).toBe("sip:t@10.1.1.1");
    expect(request.headers.fields("Route")).toEqual([
      "<sip:first.example.com;transport=tls;r2=on;lr>",
      "<sip:a.example.com;lr=on>",
      "<sip:b.example.com;lr;ftag=1>",
    ]);
    expect(next).toBe("sip:first.example.com;transport=tls;r2=on;lr");
  });

  test("puts a strict router into the Request-URI and the target last", () => {
    const dialog = new SipDialog(
      "sip:x",
      response([
        ["Record-Route", "<sip:b.example.com>, <sip:strict.example.com>"],
        ["Contact", "<sip:t@10.1.1.1>"],
      ]),
    );
    const { request, next } = dialog.ack(7);
    expect(request.uri).toBe("sip:strict.example.com");
    expect(request.headers.fields("Route")).toEqual(["<sip:b.example.com>", "<sip:t@10.1.1.1>"]);
    expect(next).toBe("sip:strict.example.com");
    expect(request.headers.get("CSeq")).toBe("7 ACK");
  });

  test("keeps the Request-URI without a valid Contact", () => {
    for (const fields of [[], [["Contact", "<tel:+1>"]], [["Contact", "%%%"]]] as const)
      expect(new SipDialog("sip:them@example.com", response(fields)).target).toBe("sip:them@example.com");
  });

  test("recomputes its routes from the 2xx and keeps them on target refresh", () => {
    const dialog = new SipDialog(
      "sip:x",
      response([
        ["Record-Route", "<sip:a;lr>"],
        ["Contact", "<sip:1@10.0.0.1>"],
      ]),
    );
    dialog.establish(
      response([
        ["Record-Route", "<sip:b;lr>"],
        ["Contact", "<sip:2@10.0.0.1>"],
      ]),
    );
    dialog.refreshTarget(
      response([
        ["Record-Route", "<sip:c;lr>"],
        ["Contact", "<sip:3@10.0.0.1>"],
      ]),
    );
    const { request } = dialog.request("BYE");
    expect(request.headers.fields("Route")).toEqual(["<sip:b;lr>"]);
    expect(request.uri).toBe("sip:3@10.0.0.1");
  });
});

describe("the next hop of a request within a dialog", () => {
  const tls = new ScriptedFlow("tls", "198.51.100.5", 5061);
  const udp = new ScriptedFlow("udp", "198.51.100.5", 5060);
  const inviteHop = "sip:trunk.example.com;transport=tls";

  test("is the dialog's connection for its peer's URI", () => {
    for (const uri of [
      "sip:198.51.100.5:5061;transport=tls;lr",
      "sips:198.51.100.5",
      "sip:x@198.51.100.5:5061", // no transport is named, but this is the end of the connection
      "sip:trunk.example.com;transport=tls;lr",
    ])
      expect(nextHop(uri, tls, inviteHop).to, uri).toBe(tls);
  });

  test("is another hop for another host's URI", () => {
    for (const uri of [
      "sip:198.51.100.5:5062;transport=tls",
      "sip:198.51.100.5:5061;transport=udp",
      "sip:other.example.com;transport=tls",
      "sip:trunk.example.com:5071;transport=tls",
    ])
      expect(nextHop(uri, tls, inviteHop).to, uri).toBe(uri);
    expect(nextHop("sips:198.51.100.5:5060", udp, inviteHop).to).toBe("sips:198.51.100.5:5060");
  });

  test("is the dialog's connection if the URI is behind a NAT", () => {
    for (const uri of [
      "sip:t@10.0.0.9:5060",
      "sip:t@192.168.1.4",
      "sip:t@abc.invalid;transport=ws",
      "sip:t@172.20.0.1",
      "sip:t@192.0.0.4:5060",
      "sip:t@198.18.0.1:5060",
      "sip:asterisk@pbx7:5060",
      "sip:t@pbx.local",
    ])
      expect(nextHop(uri, udp, inviteHop).to, uri).toBe(udp);
    // In one private network every host is reachable.
    const privateFlow = new ScriptedFlow("udp", "10.0.0.1", 5060);
    expect(nextHop("sip:t@10.0.0.9:5060", privateFlow, inviteHop).to).toBe("sip:t@10.0.0.9:5060");
  });

  test("is a new connection if the old one closed", () => {
    const closedFlow = new ScriptedFlow("tls", "198.51.100.5", 5061);
    closedFlow.isAlive = false;
    expect(nextHop("sip:trunk.example.com;transport=tls;lr", closedFlow, inviteHop).to).toBe(
      "sip:trunk.example.com;transport=tls;lr",
    );
    expect(nextHop("sip:t@10.0.0.9", closedFlow, inviteHop).to).toBe(inviteHop);
  });

  test("is a new connection for a BYE on a closed one", async () => {
    const flow = new ScriptedFlow("tls", "192.0.2.9", 5070);
    const call = await ScriptedCall.placed({ flow });
    call.accept({ fields: [["Contact", "<sip:callee@192.0.2.9:5070;transport=tls>"]] });
    void call.usage.hangUp();
    expect(call.tx.last("BYE").to).toBe(flow);
    call.tx.last("BYE").fail(new TransportError("closed", "reset by the peer"));
    expect(call.tx.last("BYE").to).toBe("sip:callee@192.0.2.9:5070;transport=tls");
    call.tx.last("BYE").respond(200);
    expect(call.end).toEqual({ type: "released" });
    expect(call.leftovers).toBe(0);
  });

  test("is not a connection opened by the peer", async () => {
    const flow = new ScriptedFlow("tls", "198.51.100.5", 5061);
    const call = await ScriptedCall.placed({ flow, nextHop: () => inviteHop });
    call.accept({ fields: [["Record-Route", "<sip:trunk.example.com;transport=tls;lr>"]] });
    const peerFlow = new ScriptedFlow("tls", "198.51.100.77", 40_123);
    const update = await call.receive("UPDATE", { flow: peerFlow });
    expect(update.flow).toBe(peerFlow);
    expect(update.status).toBe(200);
    const keySent = call.usage.sendDigit("1", 100);
    expect(call.tx.last("INFO").to).toBe(flow);
    call.tx.last("INFO").respond(200);
    await keySent;
    expect((await call.receive("BYE", { cseq: 2, flow: peerFlow })).status).toBe(200);
    expect(call.end).toEqual({ type: "bye", reason: undefined });
    expect(call.leftovers).toBe(0);
  });
});
