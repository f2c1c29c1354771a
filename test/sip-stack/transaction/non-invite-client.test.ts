import { expect, test } from "vitest";
import { type RecordedRequest, request, send } from "./trunk.ts";
import { tcp, Wire } from "./wire.ts";

const URI = "sip:them@there.example";
const OPTIONS = { method: "OPTIONS" };

async function sendOptions(wire: Wire): Promise<RecordedRequest> {
  const sentRequest = send(wire.transactions, request("OPTIONS", URI), URI);
  await wire.system.settle();
  return sentRequest;
}

test("trying: a request is retransmitted up to timer F, with doubling pauses", async () => {
  const wire = new Wire();
  const sentRequest = await sendOptions(wire);
  await wire.system.advance(31_999);
  const sentAtMs = [0, 500, 1500, 3500, 7500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500];
  expect(wire.log).toEqual(sentAtMs.map((ms) => `${ms} OPTIONS`));
  await wire.system.advance(1);
  expect(sentRequest.events).toEqual(["sent", "timeout"]);
  expect(wire.system.waiting).toBe(0);
});

test("proceeding: a request is retransmitted every T2 until timer F", async () => {
  const wire = new Wire();
  const sentRequest = await sendOptions(wire);
  await wire.system.advance(400);
  wire.answer(100, OPTIONS);
  await wire.system.advance(8_600);
  expect(wire.log).toEqual(["0 OPTIONS", "500 OPTIONS", "4500 OPTIONS", "8500 OPTIONS"]);
  await wire.system.advance(23_000);
  expect(sentRequest.events).toEqual(["sent", "100", "timeout"]);
  expect(wire.system.waiting).toBe(0);
});

test("completed: retransmitted responses are absorbed until timer K", async () => {
  const wire = new Wire();
  const sentRequest = await sendOptions(wire);
  wire.answer(404, OPTIONS);
  wire.answer(404, OPTIONS);
  expect(wire.system.waiting).toBe(1);
  await wire.system.advance(5_000);
  expect(wire.system.waiting).toBe(0);
  expect(sentRequest.events).toEqual(["sent", "404"]);
  expect(wire.log).toEqual(["0 OPTIONS"]);
});

test("reliable transports have no retransmissions or timer K", async () => {
  const wire = new Wire();
  wire.hops = [tcp("192.0.2.11")];
  const sentRequest = await sendOptions(wire);
  await wire.system.advance(20_000);
  wire.answer(200, OPTIONS);
  expect(wire.log).toEqual(["0 OPTIONS"]);
  expect(wire.system.waiting).toBe(0);
  expect(sentRequest.events).toEqual(["sent", "200"]);
});

test("a closed connection fails the request, even after a provisional response", async () => {
  const wire = new Wire();
  wire.hops = [tcp("192.0.2.11")];
  const sentRequest = await sendOptions(wire);
  wire.answer(100, OPTIONS);
  wire.breakFlow(wire.message(0).flow, "closed");
  expect(sentRequest.events).toEqual(["sent", "100", "closed"]);
  expect(wire.system.waiting).toBe(0);
});

test("the timers are configurable", async () => {
  const wire = new Wire({ t1Ms: 10, t2Ms: 40, t4Ms: 50 });
  const sentRequest = await sendOptions(wire);
  await wire.system.advance(150);
  expect(wire.log).toEqual([0, 10, 30, 70, 110, 150].map((ms) => `${ms} OPTIONS`));
  wire.answer(200, OPTIONS);
  expect(sentRequest.events).toEqual(["sent", "200"]);
  await wire.system.advance(50);
  expect(wire.system.waiting).toBe(0);
});

test("a request on a flow stays there, and fails if the flow is closed", async () => {
  const wire = new Wire();
  const flow = await wire.connect(tcp("192.0.2.77"));
  const sentRequest = send(wire.transactions, request("BYE", URI), flow);
  expect(sentRequest.events).toEqual([]);
  await wire.system.settle();
  expect(wire.message(0).flow).toBe(flow);
  wire.answer(200, { method: "BYE" });
  flow.isAlive = false;
  const lateRequest = send(wire.transactions, request("BYE", URI), flow);
  await wire.system.settle();
  expect(lateRequest.events).toEqual(["closed"]);
});

test("a header that cannot be written fails its request only", async () => {
  const wire = new Wire();
  const flow = await wire.connect(tcp("192.0.2.77"));
  flow.send = () => {
    throw new RangeError("The header field X has a line break in its value");
  };
  const sentRequest = send(wire.transactions, request("OPTIONS", URI), flow);
  await wire.system.settle();
  expect(sentRequest.events).toEqual(["unreachable"]);
  expect(await sentRequest.end).toMatchObject({ message: expect.stringContaining("line break") });
  expect(wire.system.waiting).toBe(0);
});

test("an ACK is sent once, with its own Via", async () => {
  const wire = new Wire();
  wire.hops = [tcp("192.0.2.10"), tcp("192.0.2.11")];
  wire.unreachable.add("tcp 192.0.2.10");
  wire.transactions.ack(request("ACK", URI), URI);
  await wire.system.advance(60_000);
  expect(wire.log).toEqual(["0 ACK"]);
  const { message } = wire.message(0);
  expect(message.headers.get("Via")).toMatch(
    /^SIP\/2\.0\/TCP 192\.0\.2\.1:5060;branch=z9hG4bK[0-9a-f]{24};rport;alias$/,
  );
  wire.unreachable.add("tcp 192.0.2.11");
  wire.hops = [];
  wire.transactions.ack(request("ACK", URI), URI);
  await wire.system.settle();
  expect(wire.sentMessages).toHaveLength(1);
});
