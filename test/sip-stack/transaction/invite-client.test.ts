import { describe, expect, test } from "vitest";
import type { SipRequest } from "../../../adapters/sip-stack/message/sip-message.ts";
import { type RecordedRequest, request, send } from "./trunk.ts";
import { tcp, Wire } from "./wire.ts";

const URI = "sip:them@there.example";

async function sendInvite(wire: Wire): Promise<RecordedRequest> {
  const sent = send(wire.transactions, request("INVITE", URI, { Route: "<sip:proxy.example;lr>" }), URI);
  await wire.system.settle();
  return sent;
}

async function close(wire: Wire): Promise<void> {
  await wire.transactions.close();
  expect(wire.system.waiting).toBe(0);
}

describe("INVITE over UDP (RFC 3261 figure 5)", () => {
  test("calling: an INVITE is retransmitted until timer B, with doubling pauses", async () => {
    const wire = new Wire();
    const sent = await sendInvite(wire);
    await wire.system.advance(31_999);
    expect(wire.log).toEqual([0, 500, 1500, 3500, 7500, 15_500, 31_500].map((at) => `${at} INVITE`));
    expect(sent.events).toEqual(["sent"]);
    await wire.system.advance(1);
    expect(sent.events).toEqual(["sent", "timeout"]);
    expect(await sent.end).toMatchObject({
      message: "INVITE to 192.0.2.11 port 5060 (udp): no response within 32 s",
    });
    await wire.system.advance(32_000);
    expect(wire.sentMessages).toHaveLength(7);
    expect(wire.system.waiting).toBe(0);
  });

  test("calling: every retransmission is the same message", async () => {
    const wire = new Wire();
    const { transaction } = await sendInvite(wire);
    await wire.system.advance(500);
    expect(wire.message(1).message).toBe(wire.message(0).message);
    expect(transaction.request).toBe(wire.message(0).message);
    expect(transaction.request.headers.get("Via")).toMatch(
      /^SIP\/2\.0\/UDP 192\.0\.2\.1:5060;branch=z9hG4bK[0-9a-f]{24};rport$/,
    );
    expect(transaction.request.headers.get("Contact")).toBe("<sip:us@192.0.2.1:5060>");
    await close(wire);
  });

  test("proceeding: provisional responses are reported without limit", async () => {
    const wire = new Wire();
    const sent = await sendInvite(wire);
    for (const status of [100, 180, 183, 180]) wire.answer(status);
    await wire.system.advance(600_000);
    wire.answer(200);
    expect(wire.log).toEqual(["0 INVITE"]);
    expect(sent.events).toEqual(["sent", "100", "180", "183", "180", "200"]);
    await close(wire);
  });

  test("one datagram lost each way costs 1.5 s", async () => {
    const wire = new Wire();
    const sent = await sendInvite(wire); // the first INVITE is lost
    await wire.system.advance(500); // the response to the second is lost
    await wire.system.advance(1_000);
    wire.answer(200);
    expect(sent.events).toEqual(["sent", "200"]);
    expect(wire.log).toEqual(["0 INVITE", "500 INVITE", "1500 INVITE"]);
    await close(wire);
  });

  test("completed: every copy of a refusal is acknowledged until timer D", async () => {
    const wire = new Wire();
    const sent = await sendInvite(wire);
    await wire.system.advance(100);
    wire.answer(486);
    await wire.system.advance(400);
    wire.answer(486);
    expect(wire.log).toEqual(["0 INVITE", "100 ACK", "500 ACK"]);
    expect(sent.events).toEqual(["sent", "486"]);
    const invite = sent.transaction.request.headers;
    const ack = (wire.message(1).message as SipRequest).headers;
    expect(wire.message(1).flow).toBe(wire.message(0).flow);
    expect(wire.message(1).message).toMatchObject({ method: "ACK", uri: URI });
    for (const name of ["Via", "From", "Call-ID", "Route", "Max-Forwards"])
      expect(ack.get(name)).toBe(invite.get(name));
    expect(ack.get("To")).toBe("<sip:them@there.example>;tag=them");
    expect(ack.get("CSeq")).toBe("1 ACK");
    await wire.system.advance(31_600);
    expect(wire.system.waiting).toBe(0);
    wire.answer(486);
    expect(wire.sentMessages).toHaveLength(3);
  });

  test("completed: another fork's 2xx is a late success", async () => {
    const wire = new Wire();
    await sendInvite(wire);
    wire.answer(486);
    wire.answer(200);
    expect(wire.lateSuccesses).toHaveLength(1);
    await close(wire);
  });

  test("accepted: further 2xx are late until timer M", async () => {
    const wire = new Wire();
    const sent = await sendInvite(wire);
    wire.answer(180);
    wire.answer(200);
    await wire.system.advance(500);
    wire.answer(200);
    wire.answer(180);
    expect(sent.events).toEqual(["sent", "180", "200"]);
    expect(wire.lateSuccesses).toHaveLength(1);
    await wire.system.advance(31_500);
    expect(wire.system.waiting).toBe(0);
    wire.answer(200);
    expect(wire.lateSuccesses).toHaveLength(1);
    expect(wire.log).toEqual(["0 INVITE"]);
  });

  test("timed out: late responses get CANCEL or ACK, or are late successes", async () => {
    const wire = new Wire();
    const sent = await sendInvite(wire);
    await wire.system.advance(32_000);
    const sentBefore = wire.sentMessages.length;
    wire.answer(180);
    wire.answer(180);
    await wire.system.settle();
    expect(wire.log.slice(sentBefore)).toEqual(["32000 CANCEL"]);
    wire.answer(200, { method: "CANCEL" });
    wire.answer(200);
    expect(wire.lateSuccesses).toHaveLength(1);
    expect(sent.events).toEqual(["sent", "timeout"]);
    await close(wire);
    const otherWire = new Wire();
    await sendInvite(otherWire);
    await otherWire.system.advance(32_000);
    otherWire.answer(480);
    expect(otherWire.log.at(-1)).toBe("32000 ACK");
    await close(otherWire);
  });

  test("refused: a network error ends calling only", async () => {
    const wire = new Wire();
    const sent = await sendInvite(wire);
    wire.breakFlow(wire.message(0).flow, "refused");
    expect(sent.events).toEqual(["sent", "refused"]);
    await close(wire);
    const otherWire = new Wire();
    const ringingInvite = await sendInvite(otherWire);
    otherWire.answer(180);
    otherWire.breakFlow(otherWire.message(0).flow, "refused");
    expect(ringingInvite.events).toEqual(["sent", "180"]);
    await close(otherWire);
  });
});

describe("CANCEL (RFC 3261 section 9.1)", () => {
  test("waits for a provisional response and has the Via of the INVITE", async () => {
    const wire = new Wire();
    const sent = await sendInvite(wire);
    sent.transaction.cancel("SIP;cause=200");
    sent.transaction.cancel();
    await wire.system.advance(600);
    expect(wire.log).toEqual(["0 INVITE", "500 INVITE"]);
    wire.answer(100);
    await wire.system.settle();
    expect(wire.log.slice(2)).toEqual(["600 CANCEL"]);
    const cancel = (wire.message(2).message as SipRequest).headers;
    const invite = sent.transaction.request.headers;
    for (const name of ["Via", "From", "To", "Call-ID", "Route"]) expect(cancel.get(name)).toBe(invite.get(name));
    expect(cancel.get("CSeq")).toBe("1 CANCEL");
    expect(cancel.get("Reason")).toBe("SIP;cause=200");
    wire.answer(200, { method: "CANCEL" });
    wire.answer(487);
    expect(sent.events).toEqual(["sent", "100", "487"]);
    expect(wire.log.slice(3)).toEqual(["600 ACK"]);
    await close(wire);
  });

  test("is sent immediately while it rings, and times out after 64 * T1", async () => {
    const wire = new Wire();
    const sent = await sendInvite(wire);
    wire.answer(180);
    sent.transaction.cancel();
    await wire.system.advance(1_500);
    expect(wire.log).toEqual(["0 INVITE", "0 CANCEL", "500 CANCEL", "1500 CANCEL"]);
    wire.answer(200, { method: "CANCEL" });
    await wire.system.advance(30_500);
    expect(sent.events).toEqual(["sent", "180", "timeout"]);
    expect(await sent.end).toMatchObject({ message: expect.stringContaining("no final response after CANCEL") });
    await close(wire);
  });

  test("does not undo a 200 that crosses it", async () => {
    const wire = new Wire();
    const sent = await sendInvite(wire);
    wire.answer(180);
    sent.transaction.cancel();
    wire.answer(200);
    expect(sent.events).toEqual(["sent", "180", "200"]);
    sent.transaction.cancel();
    await wire.system.settle();
    expect(wire.log).toEqual(["0 INVITE", "0 CANCEL"]);
    await close(wire);
  });

  test("before any response ends with a 200 or with timer B", async () => {
    const wire = new Wire();
    const sent = await sendInvite(wire);
    sent.transaction.cancel();
    await wire.system.advance(32_000);
    expect(sent.events).toEqual(["sent", "timeout"]);
    expect(wire.log.some((line) => line.includes("CANCEL"))).toBe(false);
    await close(wire);
    const otherWire = new Wire();
    const crossingInvite = await sendInvite(otherWire);
    crossingInvite.transaction.cancel();
    otherWire.answer(200);
    expect(crossingInvite.events).toEqual(["sent", "200"]);
    await close(otherWire);
  });

  test("of an unsent INVITE prevents it", async () => {
    const wire = new Wire();
    const sent = send(wire.transactions, request("INVITE", URI), URI);
    sent.transaction.cancel();
    expect(sent.events).toEqual([]);
    await wire.system.advance(1_000);
    expect(sent.events).toEqual(["closed"]);
    expect(wire.sentMessages).toEqual([]);
    await close(wire);
  });

  test("is never sent for another method", async () => {
    const wire = new Wire();
    const sent = send(wire.transactions, request("OPTIONS", URI), URI);
    await wire.system.settle();
    sent.transaction.cancel();
    wire.answer(100, { method: "OPTIONS" });
    await wire.system.settle();
    expect(wire.log).toEqual(["0 OPTIONS"]);
    await close(wire);
  });
});

describe("INVITE over a connection", () => {
  test("is not retransmitted; ACK ends a refusal", async () => {
    const wire = new Wire();
    wire.hops = [tcp("192.0.2.11")];
    const sent = await sendInvite(wire);
    await wire.system.advance(31_000);
    wire.answer(404);
    expect(wire.log).toEqual(["0 INVITE", "31000 ACK"]);
    expect(sent.events).toEqual(["sent", "404"]);
    expect(wire.system.waiting).toBe(0);
  });

  test("fails if it closes while ringing, and sends CANCEL on a new one", async () => {
    const wire = new Wire();
    wire.hops = [tcp("192.0.2.11")];
    const sent = await sendInvite(wire);
    wire.answer(180);
    wire.breakFlow(wire.message(0).flow, "closed");
    await wire.system.settle();
    expect(sent.events).toEqual(["sent", "180", "closed"]);
    expect(wire.log).toEqual(["0 INVITE", "0 CANCEL"]);
    expect(wire.message(1).flow).not.toBe(wire.message(0).flow);
    await close(wire);
  });
});

test("a response without a transaction is ignored", async () => {
  const wire = new Wire();
  const sent = await sendInvite(wire);
  const response = wire.answer(180);
  response.headers.set("Via", "SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bKother");
  wire.deliver(response, wire.message(0).flow);
  expect(sent.events).toEqual(["sent", "180"]);
  expect(wire.lateSuccesses).toEqual([]);
  await close(wire);
});

test("our address as the peer sees it is passed to the transport", async () => {
  const wire = new Wire();
  await sendInvite(wire);
  const response = wire.answer(100);
  const via = response.headers.get("Via") ?? "";
  response.headers.set("Via", via.replace("rport", "rport=40001;received=203.0.113.7"));
  wire.deliver(response, wire.message(0).flow);
  expect(wire.learnedAddresses).toEqual([{ address: "203.0.113.7", port: 40_001 }]);
  await close(wire);
});

test("an abandoned request is handled silently; a late 2xx is reported", async () => {
  const wire = new Wire();
  const sent = await sendInvite(wire);
  sent.transaction.abandon();
  wire.answer(180);
  wire.answer(486);
  expect(sent.events).toEqual(["sent"]);
  expect(wire.log).toEqual(["0 INVITE", "0 ACK"]);
  const otherRequest = await sendInvite(wire);
  otherRequest.transaction.abandon();
  wire.answer(200);
  expect(otherRequest.events).toEqual(["sent"]);
  expect(wire.lateSuccesses).toHaveLength(1);
  await close(wire);
});

test("closing fails each request and stops timers", async () => {
  const wire = new Wire();
  const sent = [await sendInvite(wire), await sendInvite(wire)];
  wire.answer(200);
  await Promise.all([wire.transactions.close(), wire.transactions.close()]);
  expect(sent.map(({ events }) => events)).toEqual([
    ["sent", "closed"],
    ["sent", "200"],
  ]);
  expect(wire.closeCount).toBe(1);
  expect(wire.system.waiting).toBe(0);
});
