import { afterEach, expect, test, vi } from "vitest";
import { ManualSystem } from "../../../src/testing/manual-system.ts";
import { type FarEnd, startFarEnd } from "../../support/sip/far-end.ts";
import { type Field, field, parameter, readSip, type SipText, statusOf, writeSip } from "../../support/sip/sip-text.ts";
import { type DatagramPeer, datagramPeer, TestResources } from "../transport/sockets.ts";
import { LiveAgent, type LiveCall } from "./support/live-agent.ts";

const resources = new TestResources();
afterEach(() => resources.close());

/** An answered call, and its port on our side. */
async function answeredCall(system?: ManualSystem): Promise<{ farEnd: FarEnd; call: LiveCall; port: number }> {
  const farEnd = resources.add(await startFarEnd({ callees: { bob: {} } }));
  const live = resources.add(new LiveAgent(farEnd.uri, system && { system }));
  const call = live.call("bob");
  await call.until("answered");
  const invite = farEnd.calls[0]!.requests[0]!.text;
  return { farEnd, call, port: Number(/:(\d+)/.exec(field(invite, "Via").replace(/^.*?UDP /, ""))?.[1]) };
}

/** An INVITE from a scanner that ignores responses. */
function strayInvite(n: number, { address, port }: DatagramPeer): Buffer {
  return writeSip({
    start: "INVITE sip:100@127.0.0.1 SIP/2.0",
    fields: [
      ["Via", `SIP/2.0/UDP ${address}:${port};branch=z9hG4bKstray${n};rport`],
      ["Max-Forwards", "70"],
      ["From", `<sip:scanner@${address}>;tag=${n}`],
      ["To", "<sip:100@127.0.0.1>"],
      ["Call-ID", `stray-${n}`],
      ["CSeq", "1 INVITE"],
    ],
    body: "",
  });
}

test("a flood of INVITEs gets one response each and leaves room for BYE", async () => {
  const system = new ManualSystem();
  const { farEnd, call, port } = await answeredCall(system);
  const scanner = resources.add(await datagramPeer());
  for (let sent = 0; sent < 4_200; ) {
    for (let n = 0; n < 100; n++) scanner.send(strayInvite(sent++, scanner), port);
    await vi.waitFor(() => expect(scanner.received.length).toBeGreaterThanOrEqual(sent), 5_000);
  }
  await system.advance(500); // a stored response would be repeated now
  farEnd.calls[0]!.hangUp();
  await call.until("ended bye");
  const responses = scanner.received.map(({ text }) => readSip(Buffer.from(text)));
  expect(new Set(responses.map(({ start }) => start))).toEqual(new Set(["SIP/2.0 480 Temporarily Unavailable"]));
  expect(new Set(responses.map((text) => parameter(field(text, "Via"), "branch"))).size).toBe(4_200);
  expect(responses).toHaveLength(4_200);
});

/** A request from the peer within an answered call, as another of the provider's nodes sends it. */
async function dialogRequest(
  { calls }: FarEnd,
  method: string,
  { address, port }: DatagramPeer,
  tag?: string,
): Promise<SipText> {
  await calls[0]!.established;
  const ack = calls[0]!.requests.find((request) => request.method === "ACK")!.text;
  const from = field(ack, "To");
  return {
    start: `${method} sip:agent@127.0.0.1 SIP/2.0`,
    fields: [
      ["Via", `SIP/2.0/UDP ${address}:${port};branch=z9hG4bK${method}${tag};rport`],
      ["Max-Forwards", "70"],
      ["From", tag === undefined ? from : `${from.replace(/;tag=.*/, "")};tag=${tag}`],
      ["To", field(ack, "From")],
      ["i", field(ack, "Call-ID")],
      ["CSeq", `700 ${method}`],
    ] satisfies Field[],
    body: "",
  };
}

test("a BYE from another address of the provider ends the call", async () => {
  const { farEnd, call, port } = await answeredCall();
  const node = resources.add(await datagramPeer("127.0.0.2"));
  const bye = writeSip(await dialogRequest(farEnd, "BYE", node));
  node.send(bye, port, "127.0.0.1");
  await call.until("ended bye");
  node.send(bye, port, "127.0.0.1");
  await vi.waitFor(() => expect(node.received).toHaveLength(2));
  expect(node.received.map(({ text }) => statusOf(readSip(Buffer.from(text))))).toEqual([200, 200]);
});

test("a stranger's request with our Call-ID but no dialog is dropped", async () => {
  const { farEnd, call, port } = await answeredCall();
  const scanner = resources.add(await datagramPeer("127.0.0.2"));
  scanner.send(writeSip(await dialogRequest(farEnd, "BYE", scanner, "guessed")), port, "127.0.0.1");
  const node = resources.add(await datagramPeer("127.0.0.3"));
  node.send(writeSip(await dialogRequest(farEnd, "BYE", node)), port, "127.0.0.1");
  await call.until("ended bye");
  await vi.waitFor(() => expect(node.received).toHaveLength(1));
  expect(scanner.received).toEqual([]);
});

test("an INVITE from an unknown address is dropped", async () => {
  const { farEnd, call, port } = await answeredCall();
  const scanner = resources.add(await datagramPeer("127.0.0.2"));
  for (let n = 0; n < 200; n++) scanner.send(strayInvite(n, scanner), port, "127.0.0.1");
  farEnd.calls[0]!.hangUp();
  await call.until("ended bye");
  expect(scanner.received).toEqual([]);
});
