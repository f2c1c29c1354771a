import { describe, expect, test } from "vitest";
import { withTag } from "../../../adapters/sip-stack/message/name-addr.ts";
import { responseTo, type SipRequest } from "../../../adapters/sip-stack/message/sip-message.ts";
import type { IncomingRequest } from "../../../adapters/sip-stack/transaction/transactions.ts";
import type { Flow } from "../../../adapters/sip-stack/transport/transport.ts";
import { request } from "./trunk.ts";
import { tcp, udp, Wire } from "./wire.ts";

let branches = 0;

/** A request from the peer. */
function requestOf(method: string, fields: Record<string, string> = {}): SipRequest {
  const message = request(method, "sip:us@192.0.2.1", { "Call-ID": "theirs", ...fields });
  message.headers.addFirst("Via", fields.Via ?? `SIP/2.0/UDP 192.0.2.11;branch=z9hG4bKthem${++branches}`);
  if (fields.Via !== undefined) message.headers.set("Via", fields.Via);
  return message;
}

/** A retransmission of the request, or a request that belongs to it. */
function relatedTo(original: SipRequest, method: string, tag?: string): SipRequest {
  const relatedRequest = requestOf(method, { Via: original.headers.get("Via") ?? "" });
  for (const name of ["From", "To", "Call-ID"]) relatedRequest.headers.set(name, original.headers.get(name) ?? "");
  if (tag !== undefined) relatedRequest.headers.set("To", withTag(original.headers.get("To") ?? "", tag));
  return relatedRequest;
}

function respond(transaction: IncomingRequest | undefined, status: number): void {
  if (transaction === undefined) throw new Error("no request arrived");
  const response = responseTo(transaction.request, status, "");
  if (status > 100) response.headers.set("To", withTag(response.headers.get("To") ?? "", "us"));
  transaction.respond(response);
}

async function flowOf(wire: Wire, kind: "udp" | "tcp" = "udp"): Promise<Flow> {
  return wire.connect(kind === "udp" ? udp("192.0.2.11") : tcp("192.0.2.11"));
}

describe("a non-INVITE server transaction (RFC 3261 figure 8)", () => {
  test("repeats its last response until timer J", async () => {
    const wire = new Wire();
    const flow = await flowOf(wire);
    const bye = requestOf("BYE");
    const sendCopy = (): void => wire.deliver(relatedTo(bye, "BYE"), flow);
    wire.deliver(bye, flow);
    sendCopy();
    expect(wire.log).toEqual([]);
    respond(wire.requests[0], 100);
    sendCopy();
    respond(wire.requests[0], 200);
    sendCopy();
    respond(wire.requests[0], 404); // too late
    expect(wire.log).toEqual(["0 100", "0 100", "0 200", "0 200"]);
    expect(wire.requests).toHaveLength(1);
    expect(wire.requests[0]?.hasFinalResponse).toBe(true);
    await wire.system.advance(32_000);
    expect(wire.system.waiting).toBe(0);
    sendCopy();
    expect(wire.requests).toHaveLength(2);
    await wire.transactions.close();
  });

  test("ends with its response over a connection", async () => {
    const wire = new Wire();
    wire.deliver(requestOf("BYE"), await flowOf(wire, "tcp"));
    respond(wire.requests[0], 200);
    expect(wire.system.waiting).toBe(0);
  });

  test("responds on a new connection if necessary", async () => {
    const wire = new Wire();
    const flow = await flowOf(wire, "tcp");
    wire.deliver(requestOf("BYE", { Via: "SIP/2.0/TCP there.example:5070;branch=z9hG4bKx" }), flow);
    wire.breakFlow(flow, "closed");
    respond(wire.requests[0], 200);
    await wire.system.settle();
    expect(wire.log).toEqual(["0 200"]);
    expect(wire.message(0).flow).not.toBe(flow);
  });

  test("is matched by branch, sent-by and method, or RFC 2543 fields", async () => {
    const wire = new Wire();
    const flow = await flowOf(wire);
    wire.deliver(requestOf("OPTIONS", { Via: "SIP/2.0/UDP 192.0.2.11;branch=z9hG4bKsame" }), flow);
    wire.deliver(requestOf("OPTIONS", { Via: "SIP/2.0/UDP 192.0.2.12;branch=z9hG4bKsame" }), flow);
    wire.deliver(requestOf("INFO", { Via: "SIP/2.0/UDP 192.0.2.11;branch=z9hG4bKsame" }), flow);
    expect(wire.requests).toHaveLength(3);
    const legacyRequest = requestOf("OPTIONS", { Via: "SIP/2.0/UDP 192.0.2.11;branch=1" });
    wire.deliver(legacyRequest, flow);
    wire.deliver(relatedTo(legacyRequest, "OPTIONS"), flow);
    expect(wire.requests).toHaveLength(4);
    wire.deliver(requestOf("OPTIONS", { Via: "SIP/2.0/UDP 192.0.2.11;branch=1", "Call-ID": "another" }), flow);
    expect(wire.requests).toHaveLength(5);
    await wire.transactions.close();
  });
});

describe("an INVITE server transaction (RFC 3261 figure 7)", () => {
  test("sends 100 without a response in 200 ms", async () => {
    const wire = new Wire();
    wire.deliver(requestOf("INVITE"), await flowOf(wire));
    await wire.system.advance(1_000);
    expect(wire.log).toEqual(["200 100"]);
    await wire.transactions.close();
  });

  test("retransmits a refusal until its ACK, and ends with timer I", async () => {
    const wire = new Wire();
    const flow = await flowOf(wire);
    const invite = requestOf("INVITE");
    wire.deliver(invite, flow);
    respond(wire.requests[0], 488);
    wire.deliver(relatedTo(invite, "INVITE"), flow);
    await wire.system.advance(1_600);
    expect(wire.log).toEqual(["0 488", "0 488", "500 488", "1500 488"]);
    wire.deliver(relatedTo(invite, "ACK", "us"), flow);
    await wire.system.advance(5_000);
    expect(wire.sentMessages).toHaveLength(4);
    expect(wire.requests).toHaveLength(1);
    expect(wire.system.waiting).toBe(0);
  });

  test("retransmits a refusal without ACK until timer H", async () => {
    const wire = new Wire();
    wire.deliver(requestOf("INVITE"), await flowOf(wire));
    respond(wire.requests[0], 488);
    await wire.system.advance(60_000);
    const sentAtMs = [0, 500, 1500, 3500, 7500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500];
    expect(wire.log).toEqual(sentAtMs.map((ms) => `${ms} 488`));
    expect(wire.missingAcks).toEqual([]);
    expect(wire.system.waiting).toBe(0);
  });

  test.each(["udp", "tcp"] as const)("retransmits a 2xx over %s until its ACK", async (kind) => {
    const wire = new Wire();
    const flow = await flowOf(wire, kind);
    const invite = requestOf("INVITE");
    wire.deliver(invite, flow);
    respond(wire.requests[0], 200);
    await wire.system.advance(1_600);
    expect(wire.log).toEqual(["0 200", "500 200", "1500 200"]);
    const ack = relatedTo(invite, "ACK", "us");
    ack.headers.set("Via", "SIP/2.0/UDP 192.0.2.11;branch=z9hG4bKack");
    wire.deliver(ack, flow);
    wire.deliver(ack, flow);
    wire.deliver(relatedTo(invite, "INVITE"), flow); // a late copy
    await wire.system.advance(60_000);
    expect(wire.sentMessages).toHaveLength(3);
    expect(wire.requests.map((incoming) => incoming.request.method)).toEqual(["INVITE", "ACK", "ACK"]);
    expect(wire.requests[1]).toMatchObject({ hasFinalResponse: true, flow });
    expect(wire.missingAcks).toEqual([]);
    expect(wire.system.waiting).toBe(0);
  });

  test("reports a 2xx without ACK", async () => {
    const wire = new Wire();
    wire.deliver(requestOf("INVITE"), await flowOf(wire));
    respond(wire.requests[0], 200);
    await wire.system.advance(32_000);
    expect(wire.missingAcks).toEqual([wire.requests[0]]);
    expect(wire.system.waiting).toBe(0);
  });

  test("responds to CANCEL with 200, to its INVITE with 487", async () => {
    const wire = new Wire();
    const flow = await flowOf(wire);
    const invite = requestOf("INVITE");
    wire.deliver(invite, flow);
    wire.deliver(relatedTo(invite, "CANCEL"), flow);
    wire.deliver(relatedTo(invite, "CANCEL"), flow);
    expect(wire.log).toEqual(["0 200", "0 487", "0 200"]);
    expect(wire.message(0).message.headers.get("To")).toBe(wire.message(1).message.headers.get("To"));
    expect(wire.message(0).message.headers.get("CSeq")).toBe("1 CANCEL");
    expect(wire.requests).toHaveLength(1);
    expect(wire.requests[0]?.hasFinalResponse).toBe(true);
    respond(wire.requests[0], 200); // too late
    wire.deliver(relatedTo(invite, "ACK"), flow);
    await wire.system.advance(32_000);
    expect(wire.sentMessages).toHaveLength(3);
    expect(wire.system.waiting).toBe(0);
  });

  test("ignores a CANCEL after the response; a stray CANCEL gets 481", async () => {
    const wire = new Wire();
    const flow = await flowOf(wire);
    const invite = requestOf("INVITE");
    wire.deliver(invite, flow);
    respond(wire.requests[0], 488);
    wire.deliver(relatedTo(invite, "CANCEL"), flow);
    wire.deliver(requestOf("CANCEL"), flow);
    expect(wire.log).toEqual(["0 488", "0 200", "0 481"]);
    await wire.transactions.close();
    expect(wire.system.waiting).toBe(0);
  });
});

test("a stray ACK is ignored", async () => {
  const wire = new Wire();
  wire.deliver(requestOf("ACK"), await flowOf(wire));
  expect(wire.requests).toEqual([]);
  expect(wire.sentMessages).toEqual([]);
});

test("at most four thousand requests wait; others get 503", async () => {
  const wire = new Wire();
  const flow = await flowOf(wire);
  for (let n = 0; n < 4_010; n++) wire.deliver(requestOf("OPTIONS"), flow);
  expect(wire.requests).toHaveLength(4_000);
  expect(wire.log).toEqual(Array(10).fill("0 503"));
  respond(wire.requests[7], 200);
  wire.deliver(requestOf("BYE"), flow); // takes the place of the request with a response
  expect(wire.requests).toHaveLength(4_001);
  wire.deliver(requestOf("BYE"), flow);
  expect(wire.log.at(-1)).toBe("0 503");
  await wire.transactions.close();
  expect(wire.system.waiting).toBe(0);
});

test("a request of our own call is accepted during a flood", async () => {
  const wire = new Wire();
  const flow = await flowOf(wire);
  const acceptedMethods: string[] = [];
  wire.transactions.listen({
    request: ({ request }) => void acceptedMethods.push(request.method),
    isOurs: ({ headers }) => headers.get("Call-ID") === "ours",
    lateSuccess() {},
  });
  for (let n = 0; n < 4_000; n++) wire.deliver(requestOf("OPTIONS"), flow);
  wire.deliver(requestOf("INFO"), flow);
  expect(wire.log).toEqual(["0 503"]);
  const bye = requestOf("BYE");
  bye.headers.set("Call-ID", "ours");
  wire.deliver(bye, flow);
  expect(acceptedMethods.at(-1)).toBe("BYE");
  expect(wire.log).toEqual(["0 503"]);
  await wire.transactions.close();
});
